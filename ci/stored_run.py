"""What `upright run` has stored, read from the tables alone: cases, and their motions as arrays."""

import json
import math
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

Json = dict[str, Any]
Motion = dict[str, np.ndarray]
Event = list[float]  # time, body a, body b


def motion_of(packed: bytes) -> Motion:
    """The arrays of a trajectory as the table has it (packing 1 of format 1), by name."""
    end = packed.index(b"\n") + 1
    split = packed.index(b"\n", end) + 1
    head, header = json.loads(packed[:end]), json.loads(packed[end:split])
    if (head["packing"], header["format"]) != (1, 1):
        raise SystemExit(f"packing {head['packing']}, format {header['format']}: ci/stored_run.py reads 1 and 1")
    streams = [packed[split + head["packed"] :], zlib.decompress(packed[split : split + head["packed"]])]
    at = [0, 0]
    found = {}
    for mask, (name, kind, shape) in zip(head["noise"], header["arrays"], strict=True):
        count = math.prod(shape)
        planes = np.empty((8, count), np.uint8)
        for bit in range(8):
            plain = not mask >> bit & 1
            planes[bit] = np.frombuffer(streams[plain], np.uint8, count, at[plain])
            at[plain] += count
        rows = shape[0] if count else 0
        flat = np.ascontiguousarray(planes.T).view(np.uint64).reshape(count // rows if rows else 0, rows)
        found[name] = np.ascontiguousarray(flat.T).view(f"<{kind}").reshape(shape)
    return found


def cases_of(database: Path) -> Iterator[tuple[Json, Json, Motion | None]]:
    """(Row, scene, arrays of the motion) of every case of the latest run, in the order of its plan."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        connection.row_factory = sqlite3.Row
        run = connection.execute("select max(id) from runs").fetchone()[0]
        metrics: dict[int, list[sqlite3.Row]] = {}
        for row in connection.execute(
            "select m.* from measurements m join cases c on c.id = m.case_id where run_id = ? order by position", [run]
        ):
            metrics.setdefault(row["case_id"], []).append(row)
        for row in connection.execute(
            "select c.*, t.data, s.json, v.word, v.defects from cases c left join trajectories t on "
            "t.key = c.trajectory_key left join verdicts v on v.case_id = c.id join scenes s on s.hash = c.scene_hash "
            "where c.run_id = ? order by c.id",
            [run],
        ):
            found = dict(row) | {"metrics": metrics.get(row["id"], [])}
            yield found, json.loads(row["json"]), motion_of(row["data"]) if row["data"] else None


def bounding_radius(shape: Json) -> float:
    """m, from a body's centre of mass to the furthest point of its shape; of an arc polygon to its furthest vertex."""
    if points := shape.get("vertices") or shape.get("points"):
        return max(math.hypot(*point) for point in points)
    if "size" in shape:
        return math.hypot(*shape["size"]) / 2.0
    if "semi_axes" in shape:
        return float(max(shape["semi_axes"]))
    half = shape.get("length", 0.0) / 2.0
    return shape["radius"] + half if shape["kind"] == "capsule" else math.hypot(shape["radius"], half)


def scale_of(scene: Json, motion: Motion) -> float:
    centres = positions(motion).reshape(-1, len(scene["gravity"]))
    size = max(2.0 * bounding_radius(body["shape"]) for body in scene["bodies"] if not body["fixed"])
    return float(np.linalg.norm(np.ptp(centres[np.isfinite(centres).all(axis=1)], axis=0))) + size


def positions(motion: Motion) -> np.ndarray:
    return motion["pose"][..., :2] if "pose" in motion else motion["position"]


def half_of(motion: Motion, moment: float, dt: float) -> tuple[float, np.ndarray]:
    """Time and poses (B, 3 or 7) of the sample nearest to the moment, of those on the steps that stand once."""
    time = motion["time"]
    once = np.isin(time, [t for t, n in zip(*np.unique(time, return_counts=True)) if n == 1])
    on_step = np.abs(time / dt - np.round(time / dt)) < 1e-9
    i = int(np.argmin(np.where(once & on_step, np.abs(time - moment), np.inf)))
    pose = motion["pose"] if "pose" in motion else np.concatenate([motion["position"], motion["orientation"]], axis=2)
    return float(time[i]), pose[i]


def apart(a: np.ndarray, b: np.ndarray, scale: float) -> float:
    """The largest move between two sets of poses, of the scale; quaternions q and -q are one orientation."""
    if a.shape != b.shape:
        return math.inf
    D = 2 if a.shape[1] == 3 else 3
    turn = np.abs(a[:, D:] - b[:, D:]).max()
    if D == 3:
        same = np.linalg.norm(a[:, 3:] - b[:, 3:], axis=1), np.linalg.norm(a[:, 3:] + b[:, 3:], axis=1)
        turn = 2.0 * np.minimum(*same).max()
    return max(float(np.abs(a[:, :D] - b[:, :D]).max()) / scale, float(turn))


def events_of(motion: Motion) -> list[Event]:
    """[time, a, b] of every impact that the engine reports."""
    if "impacts.time" not in motion:
        return []
    return [list(e) for e in zip(*(motion[f"impacts.{name}"].tolist() for name in ("time", "a", "b")))]


def shifts(old: list[Event], new: list[Event], until: float, margin: float) -> Iterator[tuple[float, float]]:
    """(Time, shift) of every impact up to a time, by pairs; infinite where only one of the two has it."""
    both: list[dict[tuple[float, float], list[float]]] = [{}, {}]
    for side, events in zip(both, (old, new)):
        for time, a, b in events:
            side.setdefault((a, b), []).append(time)
    for pair in both[0].keys() | both[1].keys():
        was, now = (side.get(pair, []) for side in both)
        for i in range(max(len(was), len(now))):
            t = [times[i] for times in (was, now) if i < len(times)]
            if min(t) <= until:
                # What lies near the limit may fall on either side of it.
                lone = 0.0 if t[0] > until - margin else math.inf
                yield min(t), abs(t[0] - t[1]) if len(t) == 2 else lone
