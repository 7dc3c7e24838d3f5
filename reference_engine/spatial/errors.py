"""What can go wrong with a world of ellipsoids."""


class SpatialWorldError(ValueError):
    """A world that cannot be simulated: the field, its value, what is allowed."""


class UnresolvedStepError(RuntimeError):
    """A step that does not come to within the tolerances; the figures say by how much it failed. Nothing was moved."""
