"""What can go wrong with a mechanism."""


class MechanismError(ValueError):
    """A mechanism that cannot be simulated: the field, its value, what is allowed."""


class JointError(RuntimeError):
    """Joints that cannot be kept closed, or a step that does not come to within its tolerance; the numbers say it."""
