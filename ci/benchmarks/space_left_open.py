"""In which canonical scenes in space the laws leave the motion open, from when, and by how much.

    python -P ci/benchmarks/space_left_open.py [--only WORD] [--limit S]

Each that the exact spatial engine takes is followed in a process of its own, for at most --limit s. A motion is left
open where other contact forces obey all laws as well and move the bodies otherwise: `SpatialMotion.left_open`. Shown is
the body whose acceleration differs most between the two sets of forces, and by how much. A slide without spin must
never be in it; where nothing slides with friction on more than three points, nothing can.
"""

import multiprocessing
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parent))
from measuring import Table, options

from reference_engine import LocatedSettings, simulate_spatial
from reference_engine.errors import DocumentedLimit
from scenarios.catalogue import canonical_suite
from scenarios.scene import SpatialScene
from validation.engines.reference import located


def followed(scene: SpatialScene, answer: Any) -> None:
    """Sends: rows of (s, body, m/s^2, rad/s^2), and how it ended."""
    world, ended = located.world_of(scene), ""
    settings = LocatedSettings(order="simultaneous", max_events=100_000)
    try:
        found = simulate_spatial(world, np.linspace(0.0, scene.duration, 61), settings).left_open
    except DocumentedLimit as error:
        found, ended = (), str(error)
    rows = []
    for one in found:
        linear, turning = np.abs(one.acceleration[0] - one.acceleration[1]).reshape(-1, 2, 3).max(axis=2).T
        worst = int(np.argmax(linear + turning))
        rows.append((one.time, world.body_name(int(one.body[worst])), float(linear[worst]), float(turning[worst])))
    answer.send((rows, ended))


def main() -> int:
    given = options(only="", limit=60.0)
    print("shown: from when on; the body; by how much its acceleration differs\n")
    table = Table("scenario:<44", "from_s:>9.4g", "body:<14", "m/s^2:>10.3g", "rad/s^2:>10.3g", "end:<60")
    taken = marked = 0
    for scenario in canonical_suite():
        if not isinstance(scenario.scene, SpatialScene) or given.only not in scenario.label:
            continue
        if located.declines(scenario.scene) is not None:
            continue
        ours, theirs = multiprocessing.Pipe(duplex=False)
        child = multiprocessing.Process(target=followed, args=(scenario.scene, theirs))
        child.start()
        rows, ended = ours.recv() if ours.poll(given.limit) else ([], f"stopped after {given.limit:g} s")
        child.kill()
        child.join()
        taken, marked = taken + 1, marked + bool(rows)
        for row in rows or [(None, "", None, None)]:
            table.row(scenario.label, *row, ended)
    print(f"\n{marked} of {taken} motions are left open")
    return 0


if __name__ == "__main__":
    sys.exit(main())
