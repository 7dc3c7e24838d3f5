"""The located mode's error against its tolerance, on motions whose exact solution is known.

    python -P ci/benchmarks/convergence.py [--plot FILE.svg]

Motions on which the integrator errs, and two on which it does not: parabolas it solves exactly, at any tolerance.
Between the loosest tolerance and the one at which round-off is met, the error should fall with the tolerance: a tenfold
finer tolerance, a tenfold smaller error. The order is the slope of a straight line through those points in the log-log
plane; 7/8 is what a method of order 8 has whose steps are chosen by their own error. Exits 1 unless every scene has an
order between 0.8 and 1.2 over six decades of tolerance or more, or is exact.

`--plot` needs matplotlib: `pip install -c constraints.txt -e '.[pictures]'`.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.special import ellipj, ellipk, ellipkinc

sys.path.append(str(Path(__file__).parent))
from measuring import Array, pyplot, save

from reference_engine import Body, Disc, HalfPlane, Joint, LocatedMotion, Polygon, Settings, World, box, simulate
from reference_engine.planar_model.shape import Bowl
from scenarios.catalogue.double_pendulum import motion as exact_double_pendulum

G = 9.81  # m/s^2
TOLERANCES = 10.0 ** -np.arange(4.0, 14.0)
ROUND_OFF = 20.0  # times the least error of a scene: above it the tolerance decides
ORDER = (0.8, 1.2)
DECADES = 6.0
EXACT = 2e-12  # m or s, on parabolas
SAMPLES = 100
BOUNCES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A world, how long it runs, and by how much a motion of it errs (m, rad or s)."""

    name: str
    world: World
    duration: float  # s
    error: Callable[[LocatedMotion], float]
    parabolas: bool = False  # exact at any tolerance


def swing(time: Array, amplitude: float, p: float) -> Array:
    """psi'' = -p^2 sin(psi), let go at rest: sin(psi/2) = k cd(p t | k^2), k = sin(amplitude/2)."""
    k = math.sin(amplitude / 2.0)
    _, cn, dn, _ = ellipj(p * time, k * k)
    return 2.0 * np.arcsin(k * cn / dn)


def chain(*angles: float) -> World:
    """Slender rods of 1 m, 1 kg, hinged to the origin and to each other; angles from down."""
    bodies, joints, x, y = [], [], 0.0, 0.0
    for i, angle in enumerate(angles):
        dx, dy = 0.5 * math.sin(angle), -0.5 * math.cos(angle)
        bodies.append(Body(shape=box(0.05, 1.0), inertia=1.0 / 12.0, position=(x + dx, y + dy), angle=angle, group=1))
        above = (i - 1, (0.0, -0.5)) if i else (-1, (0.0, 0.0))
        joints += [
            Joint(first=above[0], second=i, first_point=above[1], second_point=(0.0, 0.5), normal=normal)
            for normal in ((1.0, 0.0), (0.0, 1.0))
        ]
        x, y = x + 2.0 * dx, y + 2.0 * dy
    return World(bodies=tuple(bodies), connectors=tuple(joints))


def pendulum() -> Scene:
    """Ten swings of a rod from 1.2 rad: p^2 = 3 g/(2 L)."""
    p = math.sqrt(1.5 * G)

    def error(motion: LocatedMotion) -> float:
        return float(np.abs(motion.pose[:, 0, 2] - swing(motion.time, 1.2, p)).max())

    return Scene(name="pinned rod", world=chain(1.2), duration=40.0 / p * ellipk(math.sin(0.6) ** 2), error=error)


def double_pendulum() -> Scene:
    """Two rods from 1 and 0.5 rad, 10 s; the catalogue's solution of Lagrange's equations, to 1e-12."""

    def error(motion: LocatedMotion) -> float:
        return float(np.abs(motion.pose[:, :, 2].T - exact_double_pendulum(1.0, 0.5, 10.0)(motion.time)[:2]).max())

    return Scene(name="double pendulum", world=chain(1.0, 0.5), duration=10.0, error=error)


def rolling_in_a_bowl() -> Scene:
    """Ten swings of a disc that rolls, 0.25 m in a bowl of 2 m, from 1 rad: p^2 = g/(3/2 (R - r))."""
    path, p = 1.75, math.sqrt(G / (1.5 * 1.75))
    disc = Body(shape=Disc(0.25), position=(path * math.sin(1.0), -path * math.cos(1.0)))
    world = World(bodies=(Body(shape=Bowl(2.0), fixed=True), disc), friction=0.8, restitution=0.0)

    def error(motion: LocatedMotion) -> float:
        psi = swing(motion.time, 1.0, p)
        return float(np.hypot(*(motion.pose[:, 1, :2] - path * np.stack([np.sin(psi), -np.cos(psi)], 1)).T).max())

    return Scene(name="disc in bowl", world=world, duration=40.0 / p * ellipk(math.sin(0.5) ** 2), error=error)


def ladder() -> Scene:
    """200 m long, frictionless, from 0.5 rad until it leaves the wall at cos theta = 2/3 cos 0.5.

    theta'' = p^2 sin(theta), p^2 = 3 g/(2 L): from the top what a pendulum is from the bottom.
    """
    length, start = 200.0, 0.5
    half, p = length / 2.0, math.sqrt(1.5 * G / length)
    k = math.cos(start / 2.0)
    leaves = math.asin(math.cos(0.5 * math.acos(2.0 / 3.0 * math.cos(start))) / k)
    duration = float(ellipk(k * k) - ellipkinc(leaves, k * k)) / p
    rod = Body(
        shape=Polygon([(0.0, -half), (1e-3, 0.0), (0.0, half), (-1e-3, 0.0)]),
        inertia=length**2 / 12.0,
        position=(half * math.sin(start), half * math.cos(start)),
        angle=start,
    )
    floor, wall = (Body(shape=HalfPlane(), fixed=True, angle=angle) for angle in (0.0, -math.pi / 2.0))

    def error(motion: LocatedMotion) -> float:
        theta = math.pi - swing(motion.time, math.pi - start, p)
        return float(np.hypot(*(motion.pose[:, 2, :2] - half * np.stack([np.sin(theta), np.cos(theta)], 1)).T).max())

    return Scene(name="ladder", world=World(bodies=(floor, wall, rod), restitution=0.0), duration=duration, error=error)


def ball_with_drag() -> Scene:
    """Ten bounces, e = 0.9, from 20 m: v' = -g - k v, so y = y_0 + (v_0 + g/k)(1 - e^{-kt})/k - g t/k in flight."""
    k, e, height, radius = 1.0, 0.9, 20.0, 0.3

    def rise(v: float | Array, t: float | Array) -> float | Array:
        return (v + G / k) * -np.expm1(-k * t) / k - G * t / k

    starts, speeds = [0.0], [0.0]
    time = brentq(lambda t: height + rise(0.0, t), 0.1, 100.0, xtol=1e-15)
    for _ in range(BOUNCES):
        speed = speeds[-1] + G / k
        speeds.append(e * (G / k - speed * math.exp(-k * (time - starts[-1]))))
        starts.append(time)
        time += brentq(lambda t, v=speeds[-1]: rise(v, t), 1e-3 * speeds[-1] / G, 3.0 * speeds[-1] / G, xtol=1e-16)
    ground, ball = Body(shape=HalfPlane(), fixed=True), Body(shape=Disc(radius), position=(0.0, radius + height))

    def error(motion: LocatedMotion) -> float:
        flight = np.searchsorted(starts[1:], motion.time)
        y = np.where(flight == 0, height, 0.0) + rise(np.array(speeds)[flight], motion.time - np.array(starts)[flight])
        return float(np.abs(motion.pose[:, 1, 1] - radius - y).max())

    world = World(bodies=(ground, ball), restitution=e, damping=k)
    return Scene(name="ball with drag", world=world, duration=time, error=error)


def tumbling_block() -> Scene:
    """A frictionless 1 x 0.5 block from 2 m at 0.3 rad, e = 1/2: its first four impacts, by forty-digit arithmetic."""
    exact = [0.573524926096, 0.606025776676, 0.675446654636, 0.893815597355]
    block = Body(shape=box(1.0, 0.5), position=(0.0, 2.0), angle=0.3)
    world = World(bodies=(Body(shape=HalfPlane(), fixed=True), block), restitution=0.5)

    def error(motion: LocatedMotion) -> float:
        return float(np.abs(motion.events.times("impact")[:4] - exact).max())

    return Scene(name="tumbling block", world=world, duration=0.9, error=error, parabolas=True)


def slide_to_roll() -> Scene:
    """A disc thrown at 5 m/s, mu = 0.2: it rolls at 10/3 m/s from t = 5/(3 mu g) on."""
    v, brake = 5.0, 0.2 * G
    roll = v / (3.0 * brake)
    disc = Body(shape=Disc(0.5), position=(0.0, 0.5), velocity=(v, 0.0))
    world = World(bodies=(Body(shape=HalfPlane(), fixed=True), disc), friction=0.2, restitution=0.0)

    def error(motion: LocatedMotion) -> float:
        t, after = np.minimum(motion.time, roll), np.maximum(motion.time - roll, 0.0)
        return float(np.abs(motion.pose[:, 1, 0] - (v * t - 0.5 * brake * t * t + 2.0 / 3.0 * v * after)).max())

    return Scene(name="slide to roll", world=world, duration=2.0, error=error, parabolas=True)


SCENES = (pendulum, double_pendulum, rolling_in_a_bowl, ladder, ball_with_drag, tumbling_block, slide_to_roll)


def order_and_decades(errors: Array) -> tuple[float, float]:
    """Slope of log error over log tolerance, and how many decades of tolerance it was taken from."""
    ruled = errors > ROUND_OFF * errors.min()
    ruled = np.logical_and.accumulate(ruled)  # from the loosest on
    if ruled.sum() < 2:
        return math.nan, 0.0
    x, y = np.log10(TOLERANCES[ruled]), np.log10(errors[ruled])
    return float(np.polyfit(x, y, 1)[0]), float(x[0] - x[-1])


def plot(path: Path, found: dict[str, Array]) -> None:
    figure, axes = pyplot().subplots(figsize=(6.4, 4.8), layout="constrained")
    for name, errors in found.items():
        axes.loglog(TOLERANCES, errors, "o-", markersize=4, label=f"{name}: order {order_and_decades(errors)[0]:.2f}")
    axes.loglog(TOLERANCES, TOLERANCES, "k:", linewidth=1, label="error = tolerance")
    axes.set(xlabel="tolerance", ylabel="worst error (m or rad)")
    axes.invert_xaxis()
    axes.legend()
    save(figure, path)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Error of the located mode against its tolerance.")
    parser.add_argument("--plot", type=Path, help="write the picture to this file")
    options = parser.parse_args(arguments)
    found: dict[str, Array] = {}
    print(f"{'scene':18}" + "".join(f"{tolerance:9.0e}" for tolerance in TOLERANCES) + f"{'order':>8}{'decades':>9}")
    fallen_short = []
    for build in SCENES:
        scene = build()
        world, end = scene.world, scene.duration
        motions = (simulate(world, end, end / SAMPLES, Settings(tolerance=t)) for t in TOLERANCES.tolist())
        errors = np.array([scene.error(motion) for motion in motions])
        row = f"{scene.name:18}" + "".join(f"{e:9.1e}" for e in errors)
        if scene.parabolas:
            print(row + "   exact at any tolerance", flush=True)
            met = bool(errors.max() <= EXACT)
        else:
            found[scene.name] = errors
            order, decades = order_and_decades(errors)
            print(row + f"{order:8.2f}{decades:9.0f}", flush=True)
            met = ORDER[0] <= order <= ORDER[1] and decades >= DECADES
        if not met:
            fallen_short.append(scene.name)
    if options.plot:
        plot(options.plot, found)
    orders = [order_and_decades(errors)[0] for errors in found.values()]
    missed = f"; not: {', '.join(fallen_short)}" if fallen_short else ""
    print(
        f"{len(SCENES) - len(fallen_short)} of {len(SCENES)} scenes as they should be, orders {min(orders):.2f} to "
        f"{max(orders):.2f} (target: all, {ORDER[0]} to {ORDER[1]} over {DECADES:g} decades{missed})"
    )
    return int(bool(fallen_short))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
