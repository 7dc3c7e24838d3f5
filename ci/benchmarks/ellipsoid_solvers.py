"""Which solver solves which contact problems with friction, in how many iterations and how long.

    python -P ci/benchmarks/ellipsoid_solvers.py [--random 40] [--heaps 16 64 200 1000] [--seed 1] [--keep FILE]

Classes: one thrown sphere (the bug of Oltman & Hur 2017), random clusters of 10, 50 and 200 contacts, and what steps of
falling and settling heaps of 16, 64, 200 and 1000 ellipsoids on a plane, of 64 in a hollow sphere, and of scenes of the
catalogue ask for, to 2,000 contacts; cones and pyramids of 4, 8 and 16 edges, friction to 1. Problems without friction
are solved too, once each, and not counted. The default is asked for all of them, others for a sample of each class.
Solved: the natural map, computed anew, within 1e-10 of the largest speed. --keep writes the hardest for the default, or
for Newton's method on the minimum map, into a file for `tests`. Exits 1 unless there are 2,000 problems with friction,
the default solves all, and 200 contacts of a cluster in at most 20 ms of the processor in 95 % of problems; their
median and the longest time stand beside it.
"""

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

sys.path.append(str(Path(__file__).parent))
from measuring import Table, layered, options

from reference_engine import (
    ConeProblem,
    ContactForceError,
    EllipsoidWorld,
    HalfSpace,
    SpatialSettings,
    SphereInterior,
    Stepper,
    solve_cones,
)
from reference_engine.contact_problems.cone_problem import cone_problem
from scenarios.catalogue.ellipsoid_heaps import ellipsoid_lattice, ellipsoids_in_sphere, three_ellipsoids
from tests.reference_engine.contact_problems.minimum_map import by_minimum_map
from validation.engines.reference.ellipsoids import world_of

TOLERANCE, MOST_MS, ENOUGH = 1e-10, 20.0, 2000
WRITTEN, WRITTEN_CONTACTS = 24, 160  # problems, and contacts of each, that --keep writes at most
LARGEST = {"lemke": 600, "minimum-map": 300, "minimum-map-guarded": 300}  # unknowns, beyond which it is not asked


def thrown(rng: np.random.Generator, edges: int) -> Any:
    dt, v, turn = 10.0 ** rng.uniform(-3, -1), rng.uniform(0.0, 5.0), rng.uniform(0.0, 6.28)
    b = np.array([[-9.81 * dt, v * np.cos(turn), v * np.sin(turn)]])
    return ConeProblem(sparse.csr_array(np.diag([1.0, 3.5, 3.5])), b, rng.uniform(0.05, 1.0, 1), edges)


def cluster(rng: np.random.Generator, contacts: int, edges: int) -> Any:
    """Random contacts among half as many bodies, every third with the ground; all fly at about 1 m/s."""
    bodies = contacts // 2
    J = np.zeros((3 * contacts, 6 * bodies))
    for k in range(contacts):
        a = k % bodies
        b = -1 if k % 3 == 0 else (a + 1 + int(rng.integers(bodies - 1))) % bodies
        frame, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        for body, sign in ((a, -1.0), (b, 1.0)):
            if body >= 0:
                turn = np.cross(0.1 * rng.normal(size=3), frame)
                J[3 * k : 3 * k + 3, 6 * body : 6 * body + 6] = sign * np.hstack([frame, turn])
    M = np.repeat(1.0 / rng.uniform(0.5, 2.0, bodies), 6).reshape(-1, 6) * (1.0, 1.0, 1.0, 250.0, 250.0, 250.0)
    b = (J @ rng.normal(size=6 * bodies)).reshape(-1, 3)
    return ConeProblem(sparse.csr_array(J * M.ravel() @ J.T), b, np.full(contacts, rng.uniform(0.0, 1.0)), edges)


def heaps(sizes: tuple[int, ...], seed: int = 1) -> list[Any]:
    """The problems of every fifth step of heaps that fall and settle, of four layers, and in a hollow sphere.

    Of large heaps, those of three steps. Without friction, with 0.5 and with 1. Then those of scenes of the catalogue.
    """
    found: list[Any] = []

    class Watched(Stepper):
        watch = False

        def _run(self, stage: int, h: float, resolve: int = -1) -> None:
            super()._run(stage, h, resolve)
            if self.watch and resolve < 0 and self.count:
                found.append(cone_problem(self.contacts, self.bodies, self._flow.free, self.count))

    def watch(world: EllipsoidWorld, steps: int, every: int, order: int) -> None:
        stepper = Watched(world, 0.005, SpatialSettings(gap_tolerance=3e-4, speed_tolerance=1e-2, order=order))
        for k in range(steps):
            stepper.watch = k % every == every - 1
            stepper.step()

    for count, bowl_radius in [*((count, False) for count in sizes), (64, True)]:
        for friction in (0.0, 0.5, 1.0):
            rng, position = np.random.default_rng((seed, count)), layered(count)
            world = EllipsoidWorld(
                np.tile((0.1, 0.08, 0.06), (count, 1)), position, orientation=rng.normal(size=(count, 4)),
                containers=(SphereInterior(0.75, position.mean(axis=0)) if bowl_radius else HalfSpace(),),
                friction=friction,
            )  # fmt: skip
            watch(world, 150, 5 if count <= 300 else 50, 1)
    for scenario in (
        ellipsoid_lattice(n=27, seed=seed), ellipsoid_lattice(n=64, heap="layers", speed=1.0, friction=0.9, seed=seed),
        three_ellipsoids(), ellipsoids_in_sphere(friction=0.4),
    ):  # fmt: skip
        watch(world_of(scenario.scene), 300, 5, 2)
    return found


def write(problems: list[Any], path: Path) -> None:
    """As one file of numbers: W, b, friction, edges of each."""
    pieces: dict[str, Any] = {"edges": np.array([p.edges for p in problems])}
    for i, p in enumerate(problems):
        W = p.W.tocoo()
        pieces |= {f"row{i}": W.row, f"column{i}": W.col, f"entry{i}": W.data, f"b{i}": p.b, f"friction{i}": p.friction}
    np.savez_compressed(path, **pieces)


def solution(problem: Any, method: str) -> tuple[Any, int, str]:
    """Impulses, not a number where it ends without a solution; iterations; and the method, of the default which."""
    if method.startswith("minimum-map"):
        impulse, _, rounds = by_minimum_map(problem, TOLERANCE, guarded=method.endswith("guarded"))
        return impulse, rounds, method
    try:
        found = solve_cones(problem, method=method, tolerance=TOLERANCE)
        return found.impulse, found.iterations, found.method
    except ContactForceError:
        return np.full_like(problem.b, np.nan), 0, method


def main() -> int:
    chosen = options(random=40, heaps=[16, 64, 200, 1000], seed=1, keep="")
    warnings.simplefilter("ignore")
    rng, n, edges = np.random.default_rng(chosen.seed), chosen.random, (0, 4, 8, 16)
    settled = heaps(tuple(chosen.heaps), chosen.seed)
    classes = {"thrown sphere": [thrown(rng, e) for e in edges for _ in range(4 * n)]}
    for contacts in (10, 50, 200):
        classes[f"cluster, {contacts}"] = [cluster(rng, contacts, e) for e in edges for _ in range(n)]
    for low, high in ((0, 30), (30, 150), (150, 1000), (1000, 5000)):
        own = [p for p in settled if low < len(p.b) <= high]
        classes[f"heaps, {low} to {high}"] = [
            ConeProblem(p.W, p.b, p.friction, e) for e in edges for p in own if not e or p.friction.any()
        ]
    methods = ("default", "gauss-seidel", "newton", "interior", "lemke", "minimum-map", "minimum-map-guarded")
    total = missed = rough = 0
    cluster_ms = np.full(3, np.inf)
    table = Table("problems:20", "method:21", "solved:>12", "iterations:>11", "ms:>8.1f", "95 %:>8.1f", "longest:>8.0f")
    hard: list[Any] = []
    for name, problems in classes.items():
        small = all(len(p.b) <= 300 for p in problems)
        for method in methods:
            asked = [
                p
                for p in problems
                if (p.edges or method not in LARGEST) and len(p.b) * (p.edges + 2) <= LARGEST.get(method, 10**9)
            ]
            asked = asked if method == "default" else asked[:: max(1, len(asked) // (20 if small else 4))]
            solved, iterations, spent = 0, [], []
            for problem in asked:
                began = time.process_time()
                impulse, rounds, way = solution(problem, method)
                spent.append(1e3 * (time.process_time() - began))
                if is_solved := problem.residual(impulse) <= TOLERANCE:
                    solved += 1
                    iterations.append(rounds)
                failed = method in ("default", "minimum-map") and (not is_solved or "interior" in way)
                if failed and len(problem.b) <= WRITTEN_CONTACTS:
                    hard.append(problem)
            if method == "default":
                total, missed = total + len(asked), missed + len(asked) - solved
                rough += sum(bool(p.friction.any()) for p in asked)
                if name == "cluster, 200":
                    cluster_ms = np.quantile(spent, (0.5, 0.95, 1.0))
            if asked:
                typical = f"{np.median(iterations):.0f}" if iterations else "-"
                table.row(name, method, f"{solved} of {len(asked)}", typical, *np.quantile(spent, (0.5, 0.95, 1.0)))
    if chosen.keep:
        by_size = sorted(hard, key=lambda p: (len(p.b), p.edges))
        write(by_size[:: max(1, len(by_size) // WRITTEN)], Path(chosen.keep))
    good = not missed and cluster_ms[1] <= MOST_MS and rough >= ENOUGH
    print(f"default: {total - missed} of {total} solved, wanted all; {rough} of them with friction, wanted {ENOUGH}")
    middle, most, longest = cluster_ms
    print(f"200 contacts of a cluster: 95 % within {most:.1f} ms, wanted {MOST_MS:g}; median {middle:.1f}, "
          f"longest {longest:.0f}")  # fmt: skip
    return not good


if __name__ == "__main__":
    sys.exit(main())
