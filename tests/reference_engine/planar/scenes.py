"""Builders and readings that the tests of the located mode with friction, joints and ropes share."""

import math

import numpy as np
from numpy.typing import NDArray

from reference_engine import Body, Joint, LocatedMotion, Polygon, World, box
from tests.reference_engine.planar.worlds import GRAVITY, ground

Array = NDArray[np.float64]
ROUND_OFF_OF_GAPS = 1e-12  # m


def rod(length: float, angle: float, lower: tuple[float, float] = (0.0, 0.0), **state: object) -> Body:
    """An even rod of 1 kg, its lower end at a point, leaning by `angle` (to the left) from the vertical.

    A rhombus half a millimetre thick whose ends are those of the rod.
    """
    half = length / 2.0
    return Body(
        shape=Polygon([(0.0, -half), (2.5e-4, 0.0), (0.0, half), (-2.5e-4, 0.0)]),
        inertia=length**2 / 12.0,
        position=(lower[0] - half * math.sin(angle), lower[1] + half * math.cos(angle)),
        angle=angle,
        **state,  # type: ignore[arg-type]  # any of Body's fields
    )


def flat(width: float, height: float, *, bottom: float = 0.0, **state: object) -> Body:
    """A block of 1 kg whose base is level, `bottom` above the ground."""
    return Body(shape=box(width, height), position=(0.0, bottom + height / 2.0), **state)  # type: ignore[arg-type]  # any of Body's fields


def downhill(slope: float) -> tuple[float, float]:
    """Gravity on an incline, in axes along it (x downhill) and off it."""
    return GRAVITY * math.sin(slope), -GRAVITY * math.cos(slope)


def pin(first: int, first_point: tuple[float, float], second: int, second_point: tuple[float, float]) -> list[Joint]:
    """Two joints with crossed normals."""
    return [
        Joint(first=first, second=second, first_point=first_point, second_point=second_point, normal=normal)
        for normal in ((1.0, 0.0), (0.0, 1.0))
    ]


def hanging_chain(seed: int, *, friction: float, restitution: float) -> World:
    """Two to five rods of 0.4 m, 0.1 to 10 kg, pinned end to end at random angles, that fall on the ground."""
    draw, length = np.random.default_rng(seed), 0.4
    bodies, joints, top = [ground()], [], np.array([0.0, 2.2])
    for k in range(1, int(draw.integers(3, 7))):
        angle, mass = draw.uniform(-2.5, 2.5), 10.0 ** draw.uniform(-1.0, 1.0)
        end = top + length * np.array([math.sin(angle), -math.cos(angle)])
        bodies.append(
            Body(
                shape=box(0.05, length), position=tuple(0.5 * (top + end)), angle=angle, group=1, mass=mass,
                inertia=mass * length**2 / 12.0,
            )
        )  # fmt: skip
        if k > 1:
            joints += pin(k - 1, (0.0, -0.5 * length), k, (0.0, 0.5 * length))
        top = end
    return World(bodies=tuple(bodies), connectors=tuple(joints), friction=friction, restitution=restitution)


def widest_pin(motion: LocatedMotion) -> float:
    """The greatest distance between the pinned ends of a `hanging_chain` at any sample [m]."""
    x, angle = motion.pose[:, 1:, :2], motion.pose[:, 1:, 2]
    half = 0.2 * np.stack([-np.sin(angle), np.cos(angle)], axis=2)
    return float(np.abs((x + half)[:, 1:] - (x - half)[:, :-1]).max())


def at(motion: LocatedMotion, time: float) -> int:
    """The sample at a time of the grid, the later of two."""
    i = int(np.searchsorted(motion.time, time + 1e-9, side="right")) - 1
    assert abs(motion.time[i] - time) <= 1e-9, f"no sample at {time}: {motion.time[i]}"
    return i


def on_grid(motion: LocatedMotion, step: float, until: float) -> NDArray[np.int64]:
    """Samples at the times of the grid up to `until`."""
    return np.array([at(motion, k * step) for k in range(int(until / step + 1e-9) + 1)])


__all__ = [
    "GRAVITY", "ROUND_OFF_OF_GAPS", "at", "downhill", "flat", "ground", "hanging_chain", "on_grid", "pin", "rod",
    "widest_pin",
]  # fmt: skip
