"""Laws that hold from one sample to the next for an engine that makes steps, without its reports.

Near is what two bodies may get to within the time between two samples, and the gap at which the engine declares that
contacts hold; a contact of a sphere is where the line of centres, or the normal of a plane, meets it.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from reference_engine.array_types import Array, Flags, Indices
from scenarios.forces import Damping
from scenarios.scene import colliding_pairs
from validation.tools.fuzzing.independent.exact import SHARE, Broken
from validation.tools.fuzzing.independent.motion import Motion, in_space

CLOSE = 0.01  # of the radius: a sphere that is nearer may be in contact
STILL = 1e-9  # m/s, times 1 + the largest speed
SLACK = 4.0  # times g h: speeds of a step, taken at its ends
FASTEST = 20.0  # times g h: slower impacts may count as none
LEAST = 0.05  # m/s, likewise
BOUNCE = 0.01  # of the approach


class Pair(NamedTuple):
    """Of two spheres a < b, or of one with a boundary."""

    a: int
    b: int
    normal: Array  # (S, 3) from a to b
    close: Flags  # (S - 1,) whether they may be in contact


class Near(NamedTuple):
    """What bodies may meet between two samples."""

    any: Flags  # (S - 1, B)
    contacts: Indices  # (S - 1, B): pairs in which it may be in contact
    pairs: list[Pair]


def near_of(motion: Motion) -> Near:
    """By bounding spheres."""
    S, B, h = len(motion.time), len(motion.mass), np.diff(motion.time)[:, None]
    meets, contacts, pairs = np.zeros((S - 1, B), bool), np.zeros((S - 1, B), np.int64), list[Pair]()
    speed, skin = np.linalg.norm(motion.v, axis=2), motion.trajectory.contact_tolerance
    way = h * (np.maximum(speed[1:], speed[:-1]) + float(np.linalg.norm(motion.gravity)) * h)
    for names in colliding_pairs(motion.scene):
        a, b = sorted(motion.names[name] for name in names)
        ends = [i for i in (a, b) if i < B]
        gap, normal = _gap_and_normal(motion, a, b)
        approach = way[:, ends].sum(axis=1)
        close = np.minimum(gap[1:], gap[:-1]) <= 2.0 * approach + CLOSE * min(motion.radius[i] for i in ends) + skin
        for i in ends:
            meets[:, i] |= close
            contacts[:, i] += close
        if all(motion.scene.bodies[i].shape.kind in ("sphere", "disc") for i in ends):
            pairs.append(Pair(a, b, normal, close))
    return Near(meets, contacts, pairs)


def _gap_and_normal(motion: Motion, a: int, b: int) -> tuple[Array, Array]:
    """(S,) m and (S, 3) from a to b, a < b, of bounding spheres."""
    if b < len(motion.mass):
        d = motion.x[:, b] - motion.x[:, a]
        length = np.linalg.norm(d, axis=1)
        return length - motion.radius[a] - motion.radius[b], d / np.where(length > 0.0, length, 1.0)[:, None]
    boundary: Any = motion.scene.boundaries[b - len(motion.mass)]
    if boundary.kind in ("half-space", "half-plane"):
        normal, point = in_space(np.array(boundary.normal)), in_space(np.array(boundary.point))
        return (motion.x[:, a] - point) @ normal - motion.radius[a], np.tile(-normal, (len(motion.time), 1))
    d = motion.x[:, a] - in_space(np.array(boundary.center))
    length = np.linalg.norm(d, axis=1)
    return boundary.radius - length - motion.radius[a], d / np.where(length > 0.0, length, 1.0)[:, None]


def is_plain(motion: Motion) -> bool:
    """Whether gravity and contacts are all that acts."""
    scene = motion.scene
    return not (scene.joints or scene.springs or scene.thrusters or scene.damping != Damping())


def flights(motion: Motion, first_order: bool = False) -> Iterator[Broken]:
    """What nothing is near falls freely and keeps its angular momentum.

    first_order: of an engine that may have been asked to move by the speed at one end of a step (Euler's method).
    """
    if not is_plain(motion) or len(motion.time) < 2:
        return
    h = np.diff(motion.time)[:, None]
    flies = ~near_of(motion).any & motion.free & (h > 0.0)
    fastest = 1.0 + float(np.linalg.norm(motion.v, axis=2).max())
    speeds = np.linalg.norm(np.diff(motion.v, axis=0) - h[..., None] * motion.gravity, axis=2)
    ways = np.linalg.norm(np.diff(motion.x, axis=0) - 0.5 * h[..., None] * (motion.v[1:] + motion.v[:-1]), axis=2)
    astray = SHARE * (h * fastest + 1e-6 * np.abs(motion.x).max())
    if first_order:
        astray = astray + 0.5 * h**2 * float(np.linalg.norm(motion.gravity))
    largest = np.linalg.norm(motion.spin_momentum, axis=2).max(axis=0)
    spins = np.linalg.norm(np.diff(motion.spin_momentum, axis=0), axis=2)
    for words, off, allowed in (
        ("changes its speed by {:.3g} m/s beside its fall", speeds, SHARE * fastest),
        ("gets {:.3g} m from where its speeds lead", ways, astray),
        ("changes its angular momentum by {:.3g} kg m^2/s", spins, SHARE * largest + 1e-15),
    ):
        excess = np.where(flies, off - allowed, -np.inf)
        k, i = np.unravel_index(int(np.argmax(excess)), excess.shape)
        if excess[k, i] > 0.0:
            name = motion.scene.bodies[i].name
            message = f"{name!r}, which nothing is near, {words.format(off[k, i])} at {motion.time[k]:.6g} s"
            yield "forces off balance", message, (name,)


def spheres(motion: Motion) -> Iterator[Broken]:
    """A sphere that one other thing alone is near gets its spin and its speed at the one point of contact, and parts
    with e times its approach; asked where it gets no further in a step than its radius, so that there is one."""
    if not is_plain(motion) or len(motion.time) < 2:
        return
    near, h, B = near_of(motion), np.diff(motion.time), len(motion.mass)
    way = h[:, None] * np.linalg.norm(motion.v, axis=2)[:-1]
    for pair in near.pairs:
        ends = [i for i in (pair.a, pair.b) if i < B]
        alone = pair.close & (h > 0.0) & np.all([near.contacts[:, i] == 1 for i in ends], axis=0)
        alone &= np.all([way[:, i] <= motion.radius[i] for i in ends], axis=0)
        for i in ends:
            if motion.free[i]:
                yield from _spun(motion, i, pair, alone)
        yield from _bounce(motion, pair, alone)


def _spun(motion: Motion, i: int, pair: Pair, alone: Flags) -> Iterator[Broken]:
    """The torque of a force at the contact is what the force does to the momentum, at the arm of the contact."""
    h = np.diff(motion.time)[:, None]
    impulse = motion.mass[i] * (np.diff(motion.v[:, i], axis=0) - h * motion.gravity)
    arm = (1.0 if i == pair.a else -1.0) * motion.radius[i] * pair.normal
    turned = np.diff(motion.spin_momentum[:, i], axis=0)
    off = np.linalg.norm(turned - np.cross(0.5 * (arm[1:] + arm[:-1]), impulse), axis=1)
    bent = np.linalg.norm(np.diff(pair.normal, axis=0), axis=1) + CLOSE
    size = np.linalg.norm(impulse, axis=1) * motion.radius[i]
    fastest = 1.0 + float(np.linalg.norm(motion.v, axis=2).max())
    excess = np.where(alone, off - bent * size - STILL * motion.mass[i] * motion.radius[i] * fastest, -np.inf)
    k = int(np.argmax(excess))
    if excess[k] > 0.0:
        name, members = motion.scene.bodies[i].name, (*motion.scene.bodies, *motion.scene.boundaries)
        message = f"the spin of {name!r} changes by {off[k]:.3g} kg m^2/s more at {motion.time[k]:.6g} s"
        names = members[pair.a].name, members[pair.b].name
        yield "forces off balance", f"{message} than a force at its one contact explains", names


def _bounce(motion: Motion, pair: Pair, alone: Flags) -> Iterator[Broken]:
    """In one step: one in which the velocity jumps along the normal, and not the normal alone turns, as in a fly-by."""
    members, B, h = (*motion.scene.bodies, *motion.scene.boundaries), len(motion.mass), np.diff(motion.time)
    relative = (motion.v[:, pair.b] if pair.b < B else 0.0) - motion.v[:, pair.a]
    rate, fall = np.einsum("si,si->s", pair.normal, relative), float(np.linalg.norm(motion.gravity)) * h
    e = motion.scene.pair_law(members[pair.a], members[pair.b])[1]
    fast = rate[:-1] < -FASTEST * fall - LEAST
    jump = np.einsum("si,si->s", pair.normal[:-1], np.diff(relative, axis=0))
    bounces = alone & fast & (h <= 1.001 * motion.trajectory.dt) & (jump > 0.5 * np.abs(rate[:-1]))
    bent = np.linalg.norm(np.diff(pair.normal, axis=0), axis=1) * np.linalg.norm(relative, axis=1)[:-1]
    allowed = SLACK * fall + 2.0 * bent + BOUNCE * np.abs(rate[:-1])
    excess = np.where(bounces, np.abs(rate[1:] + e * rate[:-1]) - allowed, -np.inf)
    k = int(np.argmax(excess))
    if excess[k] > 0.0:
        names = members[pair.a].name, members[pair.b].name
        message = (
            f"{names[0]!r} and {names[1]!r} meet at {-rate[k]:.4g} m/s and part at {rate[k + 1]:.4g} m/s, at "
            f"{motion.time[k]:.6g} s; restitution is {e:.6g}"
        )
        yield "against the impact law", message, names
