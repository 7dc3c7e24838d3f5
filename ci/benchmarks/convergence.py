"""The located mode's error against its tolerance, on scenes of the catalogue whose motion is known.

    python -P ci/benchmarks/convergence.py [--plot FILE.svg]

Scenes on which the integrator errs, and three on which it does not: parabolas it solves exactly, at any tolerance.
Between the loosest tolerance and the one at which round-off is met, the error should fall with the tolerance: a tenfold
finer tolerance, a tenfold smaller error. The order is the slope of a straight line through those points in the log-log
plane; 7/8 is what a method of order 8 has whose steps are chosen by their own error. Exits 1 unless every scene has an
order between 0.8 and 1.2 over six decades of tolerance or more, or is exact.

`--plot` needs matplotlib: `pip install -c constraints.txt -e '.[pictures]'`.
"""

import argparse
import math
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parent))
from measuring import Array, Table, pyplot, save

from reference_engine import Settings, simulate
from scenarios.catalogue import scenario_of
from scenarios.scene import PlanarScene
from validation.engines.shared.planar_model import world_of

SCENES = (
    *("pendulum", "double-pendulum", "andrews", "sphere-in-sphere", "sliding-ladder", "ball-with-drag:drag=1"),
    "block-against-wall:floor_friction=0.1,wall_friction=0.1",
)
PARABOLAS = ("bouncing-ball", "thrown-box", "slide-to-roll")
TOLERANCES = 10.0 ** -np.arange(4.0, 14.0)
FLOOR_FACTOR = 20.0  # times the least error of a scene: above it the tolerance decides
ORDER = (0.8, 1.2)
DECADES = 6.0
EXACT = 1e-13  # m or rad, on parabolas
SAMPLES = 100


def errors_of(name: str) -> Array:
    """(T,) m or rad, the worst of a pose, at each of the tolerances."""
    scenario = scenario_of(name)
    scene, truth = scenario.scene, scenario.truth
    assert isinstance(scene, PlanarScene) and truth.pose
    world, end = world_of(scene), truth.span[1]
    errors = []
    for tolerance in TOLERANCES.tolist():
        motion = simulate(world, end, end / SAMPLES, Settings(tolerance=tolerance))
        errors.append(np.nanmax(np.abs(motion.pose[:, : len(scene.bodies)] - truth.pose(motion.time))))
    return np.array(errors)


def order_and_decades(errors: Array) -> tuple[float, float]:
    """Slope of log error over log tolerance, and how many decades of tolerance it was taken from."""
    ruled = np.logical_and.accumulate(errors > FLOOR_FACTOR * errors.min())  # from the loosest on
    if ruled.sum() < 2:
        return math.nan, 0.0
    x, y = np.log10(TOLERANCES[ruled]), np.log10(errors[ruled])
    return float(np.polyfit(x, y, 1)[0]), float(x[0] - x[-1])


def plot(path: Path, found: dict[str, Array]) -> None:
    figure, axes = pyplot().subplots(figsize=(6.4, 4.8), layout="constrained")
    for name, errors in found.items():
        label = f"{name.partition(':')[0]}: order {order_and_decades(errors)[0]:.2f}"
        axes.loglog(TOLERANCES, errors, "o-", markersize=4, label=label)
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
    table = Table("scene:19", *(f"{tolerance:.0e}:>8.1e" for tolerance in TOLERANCES), "order:>6.2f", "decades:>7.0f")
    orders, missed = [], []
    for name in SCENES:
        found[name] = errors_of(name)
        order, decades = order_and_decades(found[name])
        table.row(name.partition(":")[0], *found[name], order, decades)
        orders.append(order)
        missed += [] if ORDER[0] <= order <= ORDER[1] and decades >= DECADES else [name]
    for name in PARABOLAS:
        errors = errors_of(name)
        table.row(name, *errors, None, None)
        missed += [] if errors.max() <= EXACT else [name]
    if options.plot:
        plot(options.plot, found)
    count = len(SCENES) + len(PARABOLAS)
    print(
        f"{count - len(missed)} of {count} scenes as they should be, orders {min(orders):.2f} to {max(orders):.2f} "
        f"(target: all, {ORDER[0]} to {ORDER[1]} over {DECADES:g} decades{'; not: ' * bool(missed)}{', '.join(missed)})"
    )
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
