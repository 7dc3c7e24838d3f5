"""What can go wrong with a world of ellipsoids."""


class SpatialWorldError(ValueError):
    """A world that cannot be simulated: the field, its value, what is allowed."""


class UnresolvedStepError(RuntimeError):
    """A step that does not come to within the tolerances; the numbers say by how much it failed.

    The world is at the last time that was reached: the step's start, or the end of the last part that went well.
    """


def overlap_at_start(a: int, b: int, bodies: int, depth: float, allowed: float) -> SpatialWorldError:
    """Of body a with b, a container from number `bodies` on; depths in m."""
    other = "a container" if b >= bodies else f"body {b}"
    return SpatialWorldError(
        f"position: body {a} and {other} overlap by {depth:.3g} m at the start; at most {allowed:.3g} m"
    )
