"""The motion of a stored case beside the accepted one, as a page that plays it and a picture."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from scenarios.scene import Scene
from validation.metrics.curves import curves
from validation.records.case import Result
from validation.records.names import engine_token
from validation.report.motion import Track, motion_gif, motion_png
from validation.report.player import motion_html
from validation.store import Baseline, Store

FRAMES = 90  # of a picture that moves: about 0.5 MB


def motion_files(
    store: Store, result: Result, baseline: Baseline | None, folder: Path, *, moving: bool = False
) -> tuple[Path, Path]:
    """The page and the picture, a GIF where it is to move; the folder is made."""
    scene: Scene = store.scene(result.case.scene_hash)
    tracks = tracks_of(store, scene, result, baseline)
    name = re.sub(r"[^\w.=-]+", "-", f"{result.case.label}-{engine_token(result.case)}").strip("-.")[:150]
    folder.mkdir(parents=True, exist_ok=True)
    page, picture = folder / f"{name}.html", folder / f"{name}.{'gif' if moving else 'png'}"
    page.write_text(motion_html(scene, tracks, f"{result.case.label}, run {result.run}"), encoding="utf-8")
    if moving:
        motion_gif(scene, tracks, picture, most=FRAMES)
    else:
        motion_png(scene, tracks, picture)
    return page, picture


def tracks_of(store: Store, scene: Scene, result: Result, baseline: Baseline | None) -> Sequence[Track]:
    """The motion, and the accepted one if the same bodies move in it."""
    tracks = case_tracks(store, scene, [result])
    if baseline is not None and baseline.result.case.scene_hash == result.case.scene_hash:
        tracks += [replace(track, label="accepted") for track in case_tracks(store, scene, [baseline.result])]
    return tracks


def case_tracks(store: Store, scene: Scene, results: Sequence[Result]) -> list[Track]:
    """A track for each case that has a motion."""
    tracks = []
    for result in results:
        trajectory = store.trajectory(result.trajectory_key) if result.trajectory_key else None
        if trajectory is not None:
            series, near = curves(scene, trajectory)
            tracks.append(
                Track(
                    label=result.case.engine_label,
                    note=result.case.identity.profile,
                    trajectory=trajectory,
                    series=series,
                    near=near,
                )
            )
    return tracks
