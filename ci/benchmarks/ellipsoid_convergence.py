"""Ellipsoids at steps dt, dt/2, dt/4, dt/8: how fast a motion settles, by the scheme of Oltman & Hur 2017 and by ours.

    python -P ci/benchmarks/ellipsoid_convergence.py [--plot FILE.png] [--scene NAME ...]

The studies of their section 7.1: differences of successive runs in position, orientation, velocity and spin, over time;
three ellipsoids on a plane, two in a hollow sphere with friction 0 and 0.4, an ellipsoid dropped on a plane; and
motions in contact all the time, without impacts, where an order can be read off. Schemes: theirs (velocities first,
gaps made linear once, friction of four edges without moment, `MobilityStepper`), ours, and ours with impacts located.

Exits 1 unless between events theirs has an order of 0.8 to 1.2 and ours of at least 1.9, and through the impact of the
dropped ellipsoid ours located of at least 1.8. `--plot` needs matplotlib:
`pip install -c constraints.txt -e '.[pictures]'`.
"""

import argparse
import itertools
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.append(str(Path(__file__).parent))
from measuring import Array, Table, pyplot, save

from reference_engine import EllipsoidWorld, MobilityStepper, SpatialSettings, Stepper
from scenarios.catalogue import scenario_of
from validation.engines.reference.ellipsoids import world_of

DT = 0.004  # s, the longest step
HALVINGS = 3
QUANTITIES = ("position", "orientation", "velocity", "spin")
THEIRS, OURS, LOCATED = "Oltman & Hur", "order 2", "order 2, located"
BETWEEN = {THEIRS: (0.8, 1.2), OURS: (1.9, 3.0)}
THROUGH = {LOCATED: (1.8, 3.0)}


class Study(NamedTuple):
    scenario: str
    duration: float  # s
    schemes: tuple[str, ...]
    target: dict[str, tuple[float, float]]


STUDIES = {
    "rocking": Study("rocking-ellipsoid:contact=sliding", 0.8, (THEIRS, OURS), BETWEEN),
    "rolling": Study("rocking-ellipsoid", 0.8, (THEIRS, OURS), {OURS: BETWEEN[OURS]}),
    "egg": Study("rising-egg", 0.8, (THEIRS, OURS), {OURS: BETWEEN[OURS]}),
    "drop": Study("ellipsoid-drop", 0.6, (THEIRS, OURS, LOCATED), THROUGH),
    "three": Study("three-ellipsoids", 0.6, (THEIRS, OURS, LOCATED), {}),
    "sphere": Study("ellipsoids-in-sphere:friction=0", 0.6, (THEIRS, OURS, LOCATED), {}),
    "sphere-friction": Study("ellipsoids-in-sphere", 0.6, (THEIRS, OURS, LOCATED), {}),
}


def stepper_of(scheme: str, world: EllipsoidWorld, dt: float) -> Any:
    if scheme == THEIRS:
        return MobilityStepper(world, dt, edges=4, friction_torque=False, once=True, gap_tolerance=1e-6)
    return Stepper(world, dt, SpatialSettings(gap_tolerance=1e-9, located=scheme == LOCATED))


def motion(scheme: str, world: EllipsoidWorld, duration: float, level: int) -> Array:
    """(S, B, 13) position, orientation, velocity, spin, every DT."""
    stepper, samples = stepper_of(scheme, world, DT / 2**level), []
    for _ in range(round(duration / DT) + 1):
        samples.append(np.hstack([stepper.position, stepper.orientation, stepper.twist]))
        for _ in range(2**level):
            stepper.step()
    return np.array(samples)


def differences(motions: list[Array]) -> dict[str, list[Array]]:
    """Of successive runs, over time (S,): the norm over all bodies, of each quantity."""
    pieces = {"position": slice(0, 3), "orientation": slice(3, 7), "velocity": slice(7, 10), "spin": slice(10, 13)}
    return {
        name: [np.linalg.norm((b - a)[..., piece], axis=(1, 2)) for a, b in itertools.pairwise(motions)]
        for name, piece in pieces.items()
    }


def order(found: list[Array]) -> float:
    """Of the two finest differences, root mean squares over time."""
    coarse, fine = (float(np.sqrt((d**2).mean())) for d in found[-2:])
    return float(np.log2(coarse / fine)) if fine > 0.0 else np.inf


def plot(path: Path, found: dict[str, dict[str, dict[str, list[Array]]]]) -> None:
    """A row a scene, a column a quantity; a colour a scheme, the finer the differences the darker."""
    colours = {THEIRS: "tab:red", OURS: "tab:orange", LOCATED: "tab:blue"}
    size = 2.6 * len(QUANTITIES), 2.0 * len(found) + 0.4
    figure, grid = pyplot().subplots(len(found), len(QUANTITIES), figsize=size, layout="constrained", squeeze=False)
    for row, (study, by_scheme) in zip(grid, found.items()):
        for axes, quantity in zip(row, QUANTITIES):
            for scheme, by_quantity in by_scheme.items():
                lines = by_quantity[quantity]
                for k, line in enumerate(lines):
                    shade, time = (k + 1.0) / len(lines), DT * np.arange(len(line))
                    label = f"{scheme}: {order(lines):.1f}" if k == len(lines) - 1 else None
                    axes.semilogy(time, np.maximum(line, 1e-12), colours[scheme], alpha=shade, lw=1, label=label)
            axes.set_title(f"{study}: {quantity}", fontsize=8)
            axes.tick_params(labelsize=6)
            axes.legend(fontsize=5, title="order", title_fontsize=5)
    for axes in grid[-1]:
        axes.set_xlabel("t (s)", fontsize=7)
    save(figure, path, dpi=110)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Differences of ellipsoids' motions at halved steps.")
    parser.add_argument("--plot", type=Path, help="write the pictures to this file")
    parser.add_argument("--scene", nargs="+", choices=list(STUDIES), default=list(STUDIES))
    options = parser.parse_args(arguments)
    found: dict[str, dict[str, dict[str, list[Array]]]] = {}
    missed, asked = [], 0
    halvings = (f"dt/{2**k} to dt/{2 ** (k + 1)}:>12.1e" for k in range(HALVINGS))
    table = Table("scene:16", "scheme:16", *halvings, *(f"order of {name}:>20.2f" for name in QUANTITIES))
    for name in options.scene:
        study = STUDIES[name]
        world = world_of(scenario_of(study.scenario).scene)
        found[name] = {}
        for scheme in study.schemes:
            runs = [motion(scheme, world, study.duration, level) for level in range(HALVINGS + 1)]
            found[name][scheme] = by = differences(runs)
            size = [float(np.sqrt((d**2).mean())) for d in by["position"]]
            orders = [order(by[quantity]) for quantity in QUANTITIES]
            table.row(name, scheme, *size, *orders)
            if scheme in study.target:
                asked += 1
                low, high = study.target[scheme]
                if not low <= orders[0] <= high:
                    missed.append(f"{name}, {scheme}")
    if options.plot:
        plot(options.plot, found)
    print(
        f"{asked - len(missed)} of {asked} orders as they should be" + (f"; not: {'; '.join(missed)}" if missed else "")
    )
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
