"""The motion of a stored case beside the accepted one, as a page that plays it and a picture; with curves below it."""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from reference_engine.geometry.proximities import Proximities
from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.scene import Scene
from validation.judging.verdict import Verdict
from validation.metrics.energy import energy
from validation.metrics.observation import Array, MismatchError, Observation
from validation.metrics.proximity import proximities
from validation.records.case import Result
from validation.records.names import engine_token
from validation.records.outcome import outcome_of
from validation.records.trajectory import Trajectory
from validation.report.motion import Track
from validation.report.motion_events import differences, happened, one_of_many, passed_limits
from validation.report.pictures import motion_gif, motion_png
from validation.report.player import motion_html
from validation.report.sentences import describe_outcome
from validation.store import Baseline, Store
from validation.store.errors import StoreError

FRAMES = 90  # of a picture that moves: about 0.5 MB


def motion_files(
    store: Store, result: Result, baseline: Baseline | None, folder: Path, *, moving: bool = False
) -> tuple[Path, Path]:
    """The page and the picture, a GIF where it is to move; the folder is made."""
    accepted = [("accepted", baseline.result)] if baseline is not None else []
    named = [(result.case.engine_label, result), *accepted]
    scene, tracks = tracks_of(store, named)
    name = re.sub(r"[^\w.=-]+", "-", f"{result.case.label}-{engine_token(result.case)}").strip("-.")[:150]
    folder.mkdir(parents=True, exist_ok=True)
    page, picture = folder / f"{name}.html", folder / f"{name}.{'gif' if moving else 'png'}"
    title, absent = f"{result.case.label}, run {result.run}", absent_motions(named)
    page.write_text(motion_html(scene, tracks, title, absent=absent), encoding="utf-8")
    if moving:
        motion_gif(scene, tracks, picture, most=FRAMES)
    else:
        motion_png(scene, tracks, picture)
    return page, picture


def tracks_of(store: Store, named: Sequence[tuple[str, Result]], *, notes: bool = True) -> tuple[Scene, list[Track]]:
    """The scene of the first case, and a track of each that has a motion of that scene; with `notes`, its profile.

    Raises StoreError where the scene is not stored.
    """
    scene_hash = named[0][1].case.scene_hash
    scene: Scene = store.scene(scene_hash)
    tracks: list[Track] = []
    engines: list[str] = []
    for label, result in named:
        trajectory = store.trajectory(result.trajectory_key) if result.trajectory_key else None
        if trajectory is None or result.case.scene_hash != scene_hash:
            continue
        note = result.case.identity.profile if notes else ""
        with suppress(MismatchError):  # of a database that was made by hand
            track = track_of(scene, trajectory, label, note, result, store.verdict_on(result.number))
            tracks.append(replace(track, ended=_ended(result)))
            engines.append(result.case.identity.engine)
    return scene, with_differences(scene, tracks, engines)


def _ended(result: Result) -> str:
    if result.outcome == "completed":
        return ""
    return f"{describe_outcome(result.outcome, result.reason)}; shown up to its last finite sample"


def absent_motions(named: Sequence[tuple[str, Result]]) -> list[str]:
    """Why there is no motion of these, a sentence each."""
    return [
        f"{label}: {describe_outcome(result.outcome, result.reason)}; no motion of it is stored"
        for label, result in named
        if not result.trajectory_key and result.outcome != "declined"
    ]


def with_differences(scene: Scene, tracks: list[Track], engines: Sequence[str]) -> list[Track]:
    """The first track has events where it differs from the others; bits are compared with motions of its engine."""
    if len(tracks) < 2:
        return tracks
    own, *others = tracks
    events = [
        event
        for other, engine in zip(others, engines[1:])
        for event in differences(scene, own.trajectory, other.trajectory, other.label, same_engine=engine == engines[0])
    ]
    return [replace(own, events=[*own.events, *events]), *others]


def track_of(
    scene: Scene,
    trajectory: Trajectory,
    label: str,
    note: str = "",
    result: Result | None = None,
    verdict: Verdict | None = None,
) -> Track:
    """With its curves; of a result, and the verdict on it, also what happened and which laws it breaks, and when.

    Raises MismatchError where the motion is not one of the scene.
    """
    o = Observation(scenario=scenario_from_scene("shown", scene), trajectory=trajectory)
    near = proximities(o)
    events = one_of_many(trajectory)
    if result is not None:
        events += happened(result.outcomes, scene) + passed_limits(o, verdict.defects if verdict else (), result)
    return Track(label=label, note=note, trajectory=trajectory, series=curves(o, near), near=near, events=events)


def tracks_of_comparison(store: Store, number: int, label: str) -> tuple[Scene, list[Track]]:
    """Both sides of the scenario with this label in a stored comparison, in every profile of which motions are stored.

    Raises StoreError where there are none: it keeps those of the worst scenario of each cause.
    """
    rows = [json.loads(line) for line in store.comparison_lines(number)]
    moving = [row for row in rows if row.get("label") and row["a"]["motion"] and row["b"]["motion"]]
    chosen = [row for row in moving if row["label"] == label]
    if not chosen:
        stored = ", ".join(dict.fromkeys(row["label"] for row in moving)) or "none"
        raise StoreError(f"comparison {number}: no motion of {label}; it keeps the worst of each cause: {stored}")
    scene = store.scene(chosen[0]["scene"])
    tracks, engines = [], []
    for row in chosen:
        for side in (row["a"], row["b"]):
            trajectory = store.trajectory(side["motion"])
            if trajectory is not None:
                note = " ".join(filter(None, (side["profile"], row["variant"])))
                track = track_of(scene, trajectory, f"{side['engine']} ({side['engine_version']})", note)
                tracks.append(replace(track, events=happened(map(outcome_of, side["happened"] or ()), scene)))
                engines.append(side["engine"].partition(":")[0])
    return scene, with_differences(scene, tracks, engines)


def curves(o: Observation, near: Proximities) -> dict[str, tuple[Array, Array]]:
    """Name and unit -> (times, values): energy above its start; the smallest gap where a pair is near."""
    E = energy(o)
    least = np.full(len(o.time), np.inf)
    np.minimum.at(least, near.sample, near.gap)
    shown = {"energy above start (J)": (o.time, E - E[0])}
    if (is_near := np.isfinite(least)).any():
        shown["smallest gap (m)"] = (o.time[is_near], least[is_near])
    return shown
