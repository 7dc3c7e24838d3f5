"""What holds links together: joints of 0 to 3 linear and 0 to 3 angular freedoms, rods and ropes, rolling.

In the plane there are 0 to 2 linear and 0 or 1 angular degrees of freedom. What the angular ones hold is the relative
orientation at the start.
"""

import math
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from reference_engine.errors import MechanismError
from reference_engine.multibody.driven import Drive
from reference_engine.multibody.links import Connection
from reference_engine.multibody.rolling import Rolling
from reference_engine.multibody.winding import Winding

PARALLEL = 1e-6  # rad, between axes of an angular joint of two: nearer, they are one axis


@dataclass(frozen=True, slots=True, kw_only=True)
class Coupling(Connection):
    """Leaves so many linear and angular degrees of freedom between two links.

    linear   0: the second's point stays on the first's. 1: on the line through it along `axis`. 2: on the plane
             through it with normal `axis`. 3: anywhere. In the plane, 1 is the line, 2 and 3 are anywhere.
    angular  0: no relative turning. 1: about `turn_axis` alone. 2: about `turn_axis` of the first and `second_axis`
             of the second, whose angle stays. 3: any. In the plane, 1 and more are any.

    With `one_sided` (linear 2 in space, 1 in the plane; nothing else held), the second's point may leave to the side
    that `axis` points to (in the plane: the left of `axis`), and comes back with `restitution`.
    """

    linear: int
    angular: int
    axis: ArrayLike | None = None  # in the first's frame, of any length
    turn_axis: ArrayLike | None = None  # in the first's frame [axis]
    second_axis: ArrayLike | None = None  # in the second's frame
    one_sided: bool = False
    restitution: float = 0.0  # of a one-sided joint that closes

    def __post_init__(self) -> None:
        axes = "axis", "turn_axis", "second_axis"
        what = self._checked("joint", *axes)
        if self.linear not in (0, 1, 2, 3) or self.angular not in (0, 1, 2, 3):
            raise MechanismError(f"{what}: linear {self.linear!r}, angular {self.angular!r}; each 0, 1, 2 or 3")
        for field in axes:
            if (value := getattr(self, field)) is not None:
                if math.hypot(*value) < 1e-9:
                    raise MechanismError(f"{what}: {field} {value.tolist()} has no direction")
                object.__setattr__(self, field, value / math.hypot(*value))
        check_bounce(what, self.one_sided, self.restitution)


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance(Connection):
    """Keeps two points `length` apart; as a `rope`, no further than that, and with `restitution` when it gets taut."""

    length: float  # m
    rope: bool = False
    restitution: float = 0.0

    def __post_init__(self) -> None:
        what = self._checked("rope" if self.rope else "rod")
        if not (math.isfinite(self.length) and self.length > 0.0):
            raise MechanismError(f"{what}: length {self.length!r} m is not positive and finite")
        check_bounce(what, self.rope, self.restitution)


Joint = Coupling | Distance | Rolling | Drive | Winding


def check_bounce(what: str, one_sided: bool, restitution: float) -> None:
    if not 0.0 <= restitution <= 1.0:
        raise MechanismError(f"{what}: restitution {restitution!r}; from 0 to 1")
    if restitution and not one_sided:
        raise MechanismError(f"{what}: restitution {restitution!r} is for what closes from one side alone")


def check_axes(path: str, joint: Coupling, *, planar: bool) -> None:
    """Raises MechanismError where an axis that the freedoms need is not given, or one-sided is what cannot be."""
    if joint.linear in ((1,) if planar else (1, 2)) and joint.axis is None:
        raise MechanismError(f"{path}.axis: none is given; a joint of linear {joint.linear} needs one")
    if not planar and joint.angular in (1, 2) and joint.turn_axis is None and joint.axis is None:
        raise MechanismError(f"{path}.turn_axis: none is given; a joint of angular {joint.angular} needs one")
    if not planar and joint.angular == 2 and joint.second_axis is None:
        raise MechanismError(f"{path}.second_axis: none is given; a joint of angular 2 needs one")
    free = (joint.linear == 1 and joint.angular >= 1) if planar else (joint.linear == 2 and joint.angular == 3)
    if joint.one_sided and not free:
        raise MechanismError(
            f"{path}.one_sided: of linear {joint.linear}, angular {joint.angular}; allowed where one row is held: "
            f"{'linear 1, angular 1' if planar else 'linear 2, angular 3'}"
        )


def hinge(first: int, second: int, axis: ArrayLike, **points: Any) -> Coupling:
    """Turning about one axis, in space. `points`, here and below: the other fields of `Coupling`."""
    return Coupling(first=first, second=second, linear=0, angular=1, axis=axis, **points)


def slider(first: int, second: int, axis: ArrayLike, **points: Any) -> Coupling:
    """Moving along one axis, turning about none; in the plane, a prismatic joint."""
    return Coupling(first=first, second=second, linear=1, angular=0, axis=axis, **points)


def ball(first: int, second: int, **points: Any) -> Coupling:
    """Points together, turning free."""
    return Coupling(first=first, second=second, linear=0, angular=3, **points)


def revolute(first: int, second: int, **points: Any) -> Coupling:
    """Points together in the plane."""
    return Coupling(first=first, second=second, linear=0, angular=1, **points)
