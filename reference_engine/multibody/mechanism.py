"""A mechanism: links, what joins them, what acts on them. Checked when built."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from reference_engine.array_types import Array, Indices
from reference_engine.dense import norm
from reference_engine.errors import MechanismError
from reference_engine.multibody.driven import Drive
from reference_engine.multibody.joints import Coupling, Joint, check_axes
from reference_engine.multibody.links import GROUND, Link, check_ends, vector
from reference_engine.multibody.rolling import Rolling
from reference_engine.multibody.winding import Winding

Load = Callable[[float, Array, Array, Array], ArrayLike]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkSpring:
    """Pulls two points together with stiffness (distance - length) + damping d(distance)/dt. [N]"""

    first: int
    second: int
    stiffness: float  # N/m
    length: float = 0.0  # m, at rest
    first_point: ArrayLike | None = None  # m [the centre of mass]
    second_point: ArrayLike | None = None  # m [the centre of mass]
    damping: float = 0.0  # kg/s

    def __post_init__(self) -> None:
        check_ends("spring", self.first, self.second)
        for name in ("stiffness", "length", "damping"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) >= 0.0):
                raise MechanismError(f"spring: {name} {getattr(self, name)!r} is not finite and at least 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTorque:
    """A constant torque on a link: one number in the plane, (3,) in world axes in space. [N m]"""

    link: int
    torque: ArrayLike


@dataclass(frozen=True, eq=False, kw_only=True)
class Mechanism:
    """Links and joints; gravity (2,) or (3,) m/s^2, downward in the plane along y and in space along z.

    `load(time, position (B, D), orientation (B,) or (B, 4), twist (B, 6))` gives forces [N] and torques [N m], (B, 6),
    in world axes beside those of gravity, springs and torques; in the plane components x, y and the last count. It may
    be asked ahead of the time, and depends on nothing but its arguments.

    Raises MechanismError, naming what is wrong.
    """

    links: tuple[Link, ...]
    joints: tuple[Joint, ...] = ()
    gravity: ArrayLike | None = None
    springs: tuple[LinkSpring, ...] = ()
    torques: tuple[LinkTorque, ...] = ()
    load: Load | None = None
    dimension: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        if not any(not link.fixed for link in self.links):
            raise MechanismError("links: none can move; a mechanism needs one that is not fixed")
        sizes = {len(np.atleast_1d(link.position)) for link in self.links}
        if len(sizes) > 1:
            raise MechanismError("links: some are planar and some spatial, by their positions; all of one kind")
        set_ = object.__setattr__
        set_(self, "dimension", dimension := sizes.pop())
        down = np.zeros(dimension)
        down[-1] = -9.81
        gravity = down if self.gravity is None else self.gravity
        set_(self, "gravity", vector("mechanism", "gravity", gravity, (dimension,)))
        for i, joint in enumerate(self.joints):
            self._check_joint(f"joints[{i}]", joint)
        for i, spring in enumerate(self.springs):
            self._check_ends(f"springs[{i}]", spring.first, spring.second)
            for name in ("first_point", "second_point"):
                if getattr(spring, name) is not None:
                    vector(f"springs[{i}]", name, getattr(spring, name), (dimension,))
        for i, torque in enumerate(self.torques):
            if not 0 <= torque.link < len(self.links):
                raise MechanismError(f"torques[{i}].link: {torque.link}; there are {len(self.links)} links")
            vector(f"torques[{i}]", "torque", torque.torque, (0,) if dimension == 2 else (3,))

    def _check_ends(self, path: str, *ends: int) -> None:
        if max(ends) >= len(self.links):
            raise MechanismError(f"{path}: link {max(ends)}; there are {len(self.links)} links")

    def _check_joint(self, path: str, joint: Joint) -> None:
        self._check_ends(path, joint.first, joint.second)
        if isinstance(joint, Rolling):
            self._check_rolling(path, joint)
        if isinstance(joint, Winding) and self.dimension == 3:
            raise MechanismError(f"{path}: a winding of a mechanism in space; it is of the plane")
        if isinstance(joint, Drive) and (joint.axis is None) != (joint.turns and self.dimension == 2):
            raise MechanismError(
                f"{path}.axis: {joint.axis}; needed, but for turning in the plane, which has one alone"
            )
        if not any(i != GROUND and not self.links[i].fixed for i in (joint.first, joint.second)):
            raise MechanismError(f"{path}: neither of links {joint.first} and {joint.second} can move")
        for name in ("first_point", "second_point", "axis", "turn_axis", "second_axis"):
            value = getattr(joint, name, None)
            if value is not None and len(value) != self.dimension:
                raise MechanismError(f"{path}.{name}: {value.tolist()} in {self.dimension} dimensions")
        for i, point in ((joint.first, joint.first_point), (joint.second, joint.second_point)):
            is_point = i != GROUND and not self.links[i].fixed and not np.any(self.links[i].inertia)
            turns = (self.dimension == 2 and getattr(joint, "angular", 3) >= 1) or getattr(joint, "angular", 3) == 3
            if is_point and ((point is not None and np.any(point)) or not turns):
                raise MechanismError(
                    f"{path}: link {i} is a point mass (inertia 0); join it at its centre, free to turn"
                )
        if isinstance(joint, Coupling):
            check_axes(path, joint, planar=self.dimension == 2)

    def _check_rolling(self, path: str, joint: Rolling) -> None:
        extends = np.any(joint.semi_axes) or np.any(joint.centre)
        if self.dimension == 2 or (extends and not np.any(self.links[joint.link].inertia)):
            raise MechanismError(f"{path}: link {joint.link} is planar or a point mass; bodies of space roll")
        sided = [k for k, other in enumerate(self.joints) if getattr(other, "one_sided", getattr(other, "rope", False))]
        if joint.friction is not None and sided:
            raise MechanismError(f"{path}.friction: joints[{sided[0]}] is one-sided; beside friction none may be")


def size_of(mechanism: Mechanism, position: Array) -> float:
    """m: the largest arm or length in it; of free links their radius of gyration, or 1."""
    found = [1e-300]
    for joint in mechanism.joints:
        found += [float(norm(p)) for i, p in
                  ((joint.first, joint.first_point), (joint.second, joint.second_point))
                  if p is not None and i != GROUND]  # fmt: skip
        found.append(getattr(joint, "length", 0.0))
        found.append(float(np.max(getattr(joint, "semi_axes", 0.0))))
    for link in mechanism.links:
        if not link.fixed:
            found.append(float(np.sqrt(np.max(link.inertia) / link.mass)))
    size = max(found)
    return size if size > 1e-290 else max(1.0, float(np.abs(position).max()))


@dataclass(frozen=True, slots=True, kw_only=True)
class JointEvent:
    """A one-sided joint or rope closed with an impulse, came to hold, or let go; what slid with friction sticks."""

    time: float  # s
    joint: int
    kind: str  # "impact", "holds", "lets go", "sticks"
    impulse: float = 0.0  # N s, of an impact


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismMotion:
    """S samples of B links; D = 2 in the plane, 3 in space. SI, world axes."""

    time: Array  # (S,) s
    position: Array  # (S, B, D) m, centres of mass
    orientation: Array  # (S, B) rad, not wrapped, in the plane; (S, B, 4) unit quaternion w x y z, body to world
    velocity: Array  # (S, B, D) m/s
    spin: Array  # (S, B) or (S, B, 3) rad/s
    energy: Array  # (S,) J, kinetic, of gravity (0 at the origin) and of springs
    joint_gap: Array  # (S,) m, the worst of the joints; angles times the mechanism's size
    reaction: Array  # (S, N) N and N m per size, the multipliers of the joints' rows; 0 of those that do not hold.
    # Of rolling with friction N, then the friction (3,) along world axes.
    row_joint: Indices  # (N,) which joint a row is of
    events: tuple[JointEvent, ...]
    steps: int
    gap_moved: float  # m, the widest gap that a projection had to close
    energy_moved: float  # J, sum over all projections of what each changed of the energy, without sign
