"""Whether a heap that has settled rests.

    python -P ci/benchmarks/ellipsoid_rest.py [--bodies 500] [--seeds 0 1 2]

For each seed ellipsoids fall from a lattice into a hollow sphere, friction 0.5, in air that slows them down as
e^(-4 t / s) (without it they would rock for ever), and settle: first with speeds to 1 cm/s, at last to 1e-8 m/s. Then
the air is taken away, and of a second at rest without it: the energy gained, of what was lost in the fall, at most
1e-9; the deepest overlap, of all pairs by the geometry itself, at most 1e-6 of the size; the largest speed, and what
the poses show of it, at most 1e-6 m/s; weights against the forces of the wall, to 1e-6. Exits 1 where one fails, on any
seed, or a heap has not come to rest after 60 s of the processor.
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parent))
from measuring import deepest_overlap, lattice, options

from reference_engine import EllipsoidWorld, SpatialSettings, SphereInterior, Stepper
from reference_engine.errors import UnresolvedStepError
from reference_engine.geometry.ellipsoid_proximity import sphere_interior_proximities
from reference_engine.rotation import matrices_by_direction

G, DT, SHAPE, AIR = 9.81, 0.005, np.array((0.1, 0.08, 0.06)), 4.0
LOOSE, CALM, FINAL = 1e-2, 2e-3, 1e-8  # m/s: tolerances of the law of friction, and when the last one is taken
QUIET, SETTLING, MOST_SECONDS = 1e-7, 20.0, 60.0  # m/s to wait for, s simulated to wait at most, s of the processor
SWEEPS = 5000  # of Gauss-Seidel, before the solver for large heaps


class RestlessError(Exception):
    """A heap that takes too long to come to rest."""


def heap(count: int, seed: int) -> dict[str, float]:
    """Of the last second at rest: energy gained, overlap, speeds, momentum; each with what it is compared to."""
    rng, side = np.random.default_rng(seed), int(np.ceil(count ** (1 / 3)))
    pose_bodies = lattice(count, side) * 0.21
    pose_bodies -= pose_bodies.mean(axis=0)
    radius = 0.21 * side * 0.5 * 3**0.5 + 0.15
    moments = 0.2 * ((SHAPE**2).sum() - SHAPE**2)
    drag = AIR

    def air(t: float, position: np.ndarray, orientation: np.ndarray, twist: np.ndarray) -> np.ndarray:
        return -drag * twist * np.repeat((1.0, moments.mean()), 3)

    axes = np.tile(SHAPE, (count, 1))
    turned, sphere = rng.normal(size=(count, 4)), SphereInterior(radius)
    world = EllipsoidWorld(axes, pose_bodies, orientation=turned, containers=(sphere,), friction=0.5, force=air)
    settings = SpatialSettings(gap_tolerance=1e-4, speed_tolerance=LOOSE, most_sweeps=SWEEPS)
    stepper = Stepper(world, DT, settings)

    def energy() -> float:
        own = np.einsum("bij,bi->bj", matrices_by_direction(stepper.orientation), stepper.twist[:, 3:])
        kinetic = 0.5 * (stepper.twist[:, :3] ** 2).sum() + 0.5 * (moments * own**2).sum()
        return float(kinetic + G * stepper.position[:, 2].sum())

    first, began = energy(), time.process_time()

    def go(steps: int) -> float:
        """The largest speed on the way, after the first step."""
        largest = 0.0
        for k in range(steps):
            stepper.step()
            largest = max(largest, fastest()) if k else 0.0
            if time.process_time() - began > MOST_SECONDS:
                raise RestlessError(f"{MOST_SECONDS:g} s of the processor are gone at {stepper.time:.2f} s simulated")
        return largest

    def fastest() -> float:
        return float(max(np.abs(stepper.twist[:, :3]).max(), SHAPE[0] * np.abs(stepper.twist[:, 3:]).max()))

    go(600)
    while fastest() > CALM and stepper.time < 0.5 * SETTLING:
        stepper.tighten(0.1 * LOOSE)
        go(40)
    spent = time.process_time() - began
    print(f"  {stepper.time:.2f} s simulated, {spent:.1f} s, fastest {fastest():.1e} m/s", flush=True)
    for tolerance in np.geomspace(1e-4, FINAL, 5):
        stepper.tighten(float(tolerance))
        go(40)
        print(f"  to {tolerance:.0e} m/s: {time.process_time() - began:.1f} s, fastest {fastest():.1e} m/s", flush=True)
    while stepper.time < SETTLING:
        before = stepper.position.copy()
        if go(40) <= QUIET and np.abs(stepper.position - before).max() <= QUIET * 40 * DT:
            break
    drag = 0.0
    before, lowest, gained, jitter = stepper.position.copy(), energy(), 0.0, 0.0
    for _ in range(200):
        report = stepper.step()
        now = energy()
        gained, lowest, jitter = max(gained, now - lowest), min(lowest, now), max(jitter, fastest())
    wall = sphere_interior_proximities(axes, stepper.position, stepper.orientation, radius=radius).near.gap
    walls = stepper.broad_phase.warm_start[:, len(stepper.broad_phase.pairs) :].sum(axis=(0, 1))
    deepest = max(deepest_overlap(axes, stepper.position, stepper.orientation), -float(wall.min()))
    borne = walls + np.array((0.0, 0.0, count * G * DT))
    spent = time.process_time() - began
    print(f"  {report.contacts} contacts, {stepper.time:.2f} s simulated, {spent:.1f} s of the processor")
    return {
        "energy gained, of what was lost": gained / (first - lowest),
        "overlap, of the shortest semi-axis": deepest / SHAPE[2],
        "largest speed, m/s": jitter,
        "the same by the poses, m/s": float(np.abs(stepper.position - before).max()) / 1.0,
        "weights less the wall's forces": float(np.abs(borne).max()) / (count * G * DT),
    }


LIMITS = (1e-9, 1e-6, 1e-6, 1e-6, 1e-6)


def main() -> int:
    chosen = options(bodies=500, seeds=[0, 1, 2])
    good = True
    for seed in chosen.seeds:
        print(f"a heap of {chosen.bodies} in a hollow sphere, seed {seed}:")
        try:
            found = heap(chosen.bodies, seed)
        except (RestlessError, UnresolvedStepError) as error:
            print(f"missed: {error}", flush=True)
            good = False
            continue
        for (name, value), limit in zip(found.items(), LIMITS):
            print(f"{name}: {value:.1e}, wanted {limit:.0e}{'' if value <= limit else ' MISSED'}", flush=True)
            good = good and value <= limit
    print("all well" if good else "missed")
    return not good


if __name__ == "__main__":
    sys.exit(main())
