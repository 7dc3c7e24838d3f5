"""Measures trajectories, one after the other, in a process of its own: none of an engine's memory is near.

    python -P -m validation.running.processes.measure_server DESCRIPTOR PARENT
    {"id", "name", "parameters", "scene"} + trajectory bytes  ->  {"id", "measurements": [...]}  or  {"id", "error"}

`scene` is given for a scene file only; a catalogue scenario is built from its parameters, truth and all.
"""

import gc
import signal
import socket
import sys
import traceback
from dataclasses import fields
from functools import lru_cache
from typing import Any

from validation.engines.shared.lifeline import die_with_parent
from validation.running.processes.frames import ClosedError, Reader, receive, send

RARELY = (50_000, 20, 20)  # thresholds of gc: a motion measured leaves hardly any cycles


@lru_cache(maxsize=256)
def catalogue_scenario(name: str, parameters: tuple[tuple[str, Any], ...]) -> Any:
    from scenarios.catalogue import FAMILIES

    return FAMILIES[name].scenario(dict(parameters))


def measure(request: dict[str, Any], body: bytes) -> dict[str, Any]:
    from scenarios.catalogue.shared.scene_file import scenario_from_scene
    from scenarios.scene import parse_scene
    from validation.metrics import measure_with_outcomes
    from validation.records.trajectory import from_bytes

    if request.get("scene") is None:
        scenario = catalogue_scenario(request["name"], tuple(request["parameters"].items()))
    else:
        scenario = scenario_from_scene(request["name"], parse_scene(request["scene"]))
    measurements, outcomes = measure_with_outcomes(scenario, from_bytes(body))
    return {"measurements": [plain(one) for one in measurements], "outcomes": [plain(one) for one in outcomes]}


def plain(record: Any) -> dict[str, Any]:
    """Its fields, which hold no records themselves: a tenth of the time of `asdict`."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def load() -> None:
    """Imports and the kernels of the first scene, 0.3 s: spent while the engines start.

    numba looks for a BLAS when it loads its first kernel, which takes as long again; no kernel of ours asks for one.
    """
    from numba.np import linalg

    from scenarios.catalogue import FAMILIES
    from validation.metrics import measure as measure_all
    from validation.running.warm_up import standing_still

    linalg.ensure_blas = no_blas
    scenario = FAMILIES["upright-block"].scenario({})
    measure_all(scenario, standing_still(scenario.scene))


def no_blas() -> None:
    raise ImportError("this process measures, without a BLAS")


def main() -> None:
    descriptor, parent = int(sys.argv[1]), int(sys.argv[2])
    die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = socket.socket(fileno=descriptor)
    reader = Reader()
    gc.set_threshold(*RARELY)
    load()
    gc.freeze()
    send(connection, {})
    try:
        while True:
            for request, body in receive(connection, reader):
                try:
                    send(connection, {"id": request["id"], **measure(request, body)})
                except ClosedError:
                    raise
                except Exception:
                    send(connection, {"id": request["id"], "error": traceback.format_exc()})
    except ClosedError:
        return


if __name__ == "__main__":
    main()
