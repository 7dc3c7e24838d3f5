"""The spatial engine's error against its tolerance, on motions with and without contact.

    python -P ci/benchmarks/space_convergence.py

Free spins, joints, impacts, rolling, slip that stops, edges that tip: between the loosest tolerance and the one at
which round-off is met, a tenfold finer tolerance should make a tenfold smaller error (see `convergence.py`). The error
is that of poses at 21 samples against the motion at the finest tolerance there is, 1e-14; that this is the right motion
is what `space_truths.py` and `space_from_plane.py` show. Motions are as long, and as fast, as it takes for a loose
tolerance to need several steps: within a single one the error does not depend on it. Exits 1 unless every motion has an
order between 0.8 and 1.2 over six decades of tolerance or more.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parent))
from convergence import DECADES, ORDER, TOLERANCES, order_and_decades
from measuring import Array, Table

from reference_engine import BallJoint, LocatedSettings, SpatialBody, SpatialWorld, simulate_spatial
from reference_engine.geometry.spatial_shapes import Box, Capsule, Cylinder, HalfSpace, Sphere

FINEST = 1e-14
G = 9.81


def block(size: Sequence[float], mass: float = 1.0, **start: Any) -> SpatialBody:
    a, b, c = size
    inertia = tuple(mass / 12.0 * np.array((b * b + c * c, a * a + c * c, a * a + b * b)))
    return SpatialBody(shape=Box((a / 2, b / 2, c / 2)), mass=mass, inertia=inertia, **start)


def ball(radius: float, mass: float = 1.0, **start: Any) -> SpatialBody:
    return SpatialBody(shape=Sphere(radius), mass=mass, inertia=(0.4 * mass * radius**2,) * 3, **start)


def rod(radius: float, length: float, mass: float = 1.0, **start: Any) -> SpatialBody:
    """A capsule with the moments of a thin rod."""
    about_axis = 0.5 * mass * radius**2
    inertia = (mass * length**2 / 12.0 + 0.5 * about_axis,) * 2 + (about_axis,)
    return SpatialBody(shape=Capsule(radius, length / 2), mass=mass, inertia=inertia, **start)


def plane(point: Sequence[float] = (0, 0, 0), normal: Sequence[float] = (0, 0, 1)) -> SpatialBody:
    return SpatialBody(shape=HalfSpace(tuple(point), tuple(normal)))


def about(axis: Sequence[float], angle: float) -> tuple[float, ...]:
    unit = np.array(axis, float) / np.linalg.norm(axis)
    return math.cos(angle / 2), *(math.sin(angle / 2) * unit).tolist()


def on_its_corner(drop: float, **start: Any) -> SpatialBody:
    """A brick, turned, whose lowest corner is `drop` above the floor."""
    brick = block((0.3, 0.2, 0.1), 1.5, orientation=about((1, 2, 0.5), 0.9), **start)
    w, x, y, z = brick.orientation
    down = np.array((2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)))
    lowest = float(np.abs(down) @ np.array((0.15, 0.1, 0.05)))
    return replace(brick, position=(0.0, 0.0, lowest + drop))


def rolling_disc() -> SpatialBody:
    """One that rolls round, nodding: tilted by 0.4, faster than its steady turn."""
    r, m, a, turns, spins = 0.25, 0.5, 0.4, 2.5, 4.0
    axis, up = np.array((math.cos(a), 0.0, -math.sin(a))), np.array((math.sin(a), 0.0, math.cos(a)))
    spin, centre = spins * axis + turns * math.cos(a) * up, r * up
    attitude = about((0, 1, 0), math.acos(axis[2]))
    inertia = (0.25 * m * r * r, 0.25 * m * r * r, 0.5 * m * r * r)
    return SpatialBody(shape=Cylinder(r, 0.0), mass=m, inertia=inertia, position=centre, orientation=attitude,
                       spin=spin, velocity=np.cross(spin, centre))  # fmt: skip


def motions() -> dict[str, tuple[SpatialWorld, float]]:
    """(world, duration in s) by name."""
    still = (0.0, 0.0, 0.0)
    swinging = ball(0.1, 0.7, position=(0.5, 0.0, -0.6), velocity=(0.1, 1.0, 0.0))
    to_ceiling = BallJoint(body=0, anchor=(-0.5, 0.0, 0.6))
    upper = block((0.5, 0.06, 0.04), position=(0.25, 0.0, 0.0), spin=(1.0, 0.0, 0.0))
    lower = block((0.4, 0.05, 0.08), 0.6, position=(0.7, 0.0, 0.0))
    chain = (
        BallJoint(body=0, anchor=(-0.25, 0.0, 0.0)),
        BallJoint(body=0, anchor=(0.25, 0.0, 0.0), other=1, other_anchor=(-0.2, 0.0, 0.0)),
    )
    thrown = block((0.5, 0.2, 0.1), velocity=(0.2, 0.0, 1.0), spin=(0.3, 5.0, 0.2))
    one = block((0.6, 0.1, 0.1), position=(0.05, 0.04, 0.3), velocity=(0.1, -0.05, -1.0), spin=(0.3, 0.5, 0.8))
    other = block((0.12, 0.7, 0.12), velocity=(0.0, 0.0, 0.5), spin=(0.2, -0.1, 0.4))
    slope = np.array((0.2, 0.1, 1.0)) / math.sqrt(1.05)
    skidding = ball(0.1, position=0.1 * slope, velocity=np.cross(slope, (0.0, 1.0, 0.0)), spin=(8.0, 5.0, 3.0))
    tilt = 0.3
    leaning = rod(0.05, 0.8, position=(0.0, 0.0, 0.05 + 0.4 * math.cos(tilt)), orientation=about((0, 1, 0), tilt),
                  spin=(0.0, 0.0, 2.0))  # fmt: skip
    lean = math.radians(44.5)
    low = 0.1 * (math.sin(lean) + math.cos(lean))
    tipping = block((0.3, 0.2, 0.2), position=(0.0, 0.0, low), orientation=about((1, 0, 0), lean))
    toppling = block((0.1, 0.2, 0.6), position=(0.0, 0.0, 0.3 * math.cos(0.2) + 0.05 * math.sin(0.2)),
                     orientation=about((0, 1, 0), 0.2))  # fmt: skip
    bouncing = ball(0.1, position=(0.0, 0.0, 0.6), velocity=(0.5, 0.2, 0.0), spin=(9.0, -30.0, 15.0))
    return {
        "tumbling box": (SpatialWorld(bodies=(thrown,)), 2.0),
        "spherical pendulum": (SpatialWorld(bodies=(swinging,), joints=(to_ceiling,)), 4.0),
        "chain of two boxes": (SpatialWorld(bodies=(upper, lower), joints=chain, pairs={(0, 1): None}), 1.5),
        "box on its corner": (
            SpatialWorld(bodies=(on_its_corner(1.0, spin=(10.0, 16.0, 6.0)), plane()), friction=0.3, restitution=0.6),
            0.7,
        ),
        "boxes that collide": (SpatialWorld(bodies=(one, other), gravity=still, restitution=1.0, friction=0.4), 1.0),
        "rolling disc": (SpatialWorld(bodies=(rolling_disc(), plane()), friction=2.0), 2.0),
        "ball that comes to roll": (SpatialWorld(bodies=(skidding, plane(normal=slope)), friction=0.3), 1.0),
        "rod that slides and falls": (SpatialWorld(bodies=(leaning, plane())), 0.4),
        "box about its edge": (SpatialWorld(bodies=(tipping, plane()), friction=1.0), 0.7),
        "toppling pillar": (SpatialWorld(bodies=(toppling, plane()), friction=0.8), 0.8),
        "bouncing ball that spins": (
            SpatialWorld(bodies=(bouncing, plane(), plane((1, 0, 0), (-1, 0, 0.2))), friction=0.2, restitution=0.8),
            1.5,
        ),
    }


def poses(world: SpatialWorld, duration: float, tolerance: float) -> Array:
    """(21, n)"""
    motion = simulate_spatial(world, np.linspace(0.0, duration, 21), LocatedSettings(tolerance=tolerance))
    return np.concatenate([motion.position, motion.orientation], axis=2).reshape(21, -1)


def errors_of(world: SpatialWorld, duration: float) -> Array:
    """(T,) m, or of a quaternion, the worst of a pose, at each of the tolerances."""
    right = poses(world, duration, FINEST)
    return np.array([np.abs(poses(world, duration, one) - right).max() for one in TOLERANCES.tolist()])


def main() -> int:
    table = Table("motion:26", *(f"{tolerance:.0e}:>8.1e" for tolerance in TOLERANCES), "order:>6.2f", "decades:>7.0f")
    missed, orders = [], []
    for name, (world, duration) in motions().items():
        errors = errors_of(world, duration)
        order, decades = order_and_decades(errors)
        table.row(name, *errors, order, decades)
        orders.append(order)
        missed += [] if ORDER[0] <= order <= ORDER[1] and decades >= DECADES else [name]
    count = len(orders)
    print(
        f"{count - len(missed)} of {count} motions as they should be, orders {min(orders):.2f} to {max(orders):.2f} "
        f"(target: all, {ORDER[0]} to {ORDER[1]} over {DECADES:g} decades{'; not: ' * bool(missed)}{', '.join(missed)})"
    )
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
