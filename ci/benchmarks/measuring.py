"""What benchmarks share: compiled kernels, oracles of the tests, options, times, tables, pictures, heaps of ellipsoids.

Imported before `reference_engine`: numba asks once where its cache is.
"""

import argparse
import re
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from reference_engine.array_types import Array
from scenarios.scene import Scene, write_scene
from validation.records.case import Result
from validation.records.stored import Baseline
from validation.running.kernel_cache import use_kernel_cache
from validation.running.planning import Plan

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))  # for tests
use_kernel_cache()


def options(**defaults: Any) -> argparse.Namespace:
    """The command line: an option of each name, of the kind of its default; where that is a list it takes several."""
    parser = argparse.ArgumentParser()
    for name, value in defaults.items():
        several = isinstance(value, list)
        kind = type(value[0] if several else value)
        parser.add_argument(f"--{name}", type=kind, nargs="+" if several else None, default=value)
    return parser.parse_args()


class Table:
    """Prints rows below their heads. A column is "name:format"; of None nothing is printed."""

    def __init__(self, *columns: str) -> None:
        self.names, self.formats = zip(*(column.rsplit(":", 1) for column in columns))
        self.widths = [re.sub(r"^(\D?\d+).*", r"\1", given) for given in self.formats]
        self.row(*self.names)

    def row(self, *values: Any) -> None:
        cells = [
            f"{'' if value is None else value:{width if value is None or isinstance(value, str) else given}}"
            for value, width, given in zip(values, self.widths, self.formats)
        ]
        print(" ".join(cells).rstrip(), flush=True)


def least(
    repeats: int, run: Callable[..., Any], *given: Any, clock: Callable[[], float] = time.perf_counter
) -> tuple[float, Any]:
    """The least time [s] of several calls, which leaves out what else the machine does, and what the last returned."""
    times = []
    for _ in range(repeats):
        began = clock()
        result = run(*given)
        times.append(clock() - began)
    return min(times), result


def lattice(count: int, side: int) -> Array:
    """(count, 3): whole numbers, row by row and layer by layer of side^2."""
    i = np.arange(count)
    return np.stack([i % side, i // side % side, i // side**2], axis=1)


def layered(count: int, depth: int = 4) -> Array:
    """(count, 3) m: in so many layers over a plane; ellipsoids up to 0.1 m meet neither it nor one another."""
    return lattice(count, int(np.ceil(np.sqrt(count / depth)))) * 0.23 + [0.0, 0.0, 0.12]


def deepest_overlap(axes: Array, position: Array, orientation: Array) -> float:
    """m, of any two ellipsoids, by the geometry itself; 0 where none overlap."""
    from reference_engine.geometry.cells import overlapping_boxes
    from reference_engine.geometry.ellipsoid_proximity import ellipsoid_proximities

    extent = axes.max(axis=1)[:, None]
    pairs = overlapping_boxes(position - extent, position + extent)
    return max(0.0, -float(ellipsoid_proximities(axes, position, orientation, pairs, cutoff=0.0).gap.min(initial=0.0)))


def given_scene(plan: Plan, scene: Scene) -> Plan:
    """The engine gets this scene; what it does is measured as the scene that was meant."""
    scenario = replace(plan.scenario, scene=scene)
    return replace(plan, scenario=scenario, scene_text=write_scene(scene, indent=None))


def accepted(result: Result) -> Baseline:
    now = datetime.now(UTC)
    return Baseline(number=1, result=result, branch="", who="", when=now, reason="benchmark", scope="benchmark")


def fair_pymunk(scene: Any, dt: float) -> Any:
    """The scene's world in pymunk, with its fair settings."""
    from validation.engines.pymunk.adapter import SETTINGS, Pymunk
    from validation.engines.pymunk.world import World

    defaults = {name: setting.default for name, setting in SETTINGS.items()}
    return World(scene, dt, defaults | Pymunk().profile("fair", scene, dt))


def pyplot() -> Any:
    """matplotlib's, without a screen; the same picture is the same file if it is saved as `save` does."""
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams["svg.hashsalt"] = "upright"
    from matplotlib import pyplot

    return pyplot


def save(figure: Any, path: Path, **more: Any) -> None:
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, **more)
