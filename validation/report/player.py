"""A page that plays motions: HTML without any outside reference; engines side by side, or over each other.

What is sent is thinned: at most 30 poses a second, curves of at most 1,500 points, contacts of the frames shown.
"""

import base64
import html
import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Literal

import numpy as np

from reference_engine.array_types import Array
from scenarios.scene import Scene
from validation.report import motion
from validation.report.drawing import scene_data, script, smallest_diameter
from validation.report.motion import Track

MOST_POINTS = 1500  # of a curve
MOST_IMPACTS = 400  # of a motion, as marks below the curves
CONTACT_GAP = 1e-3  # of the smallest free body's diameter: a smaller gap is shown as a contact

SCRIPTS = ("drawing.js", "player.js")

Theme = Literal["light", "dark", ""]


def motion_html(
    scene: Scene,
    tracks: Sequence[Track],
    title: str,
    *,
    ghost: bool = False,
    bare: bool = False,
    theme: Theme = "",
) -> str:
    """Play, pause, slider, speed; spatial scenes turn by dragging.

    `ghost` begins with all tracks over each other; `bare` leaves title, curves and bar out. Without a theme the page is
    light or dark as the reader's system is.
    """
    times = motion.frame_times(tracks)
    centre, half = motion.extent(scene, tracks)
    size = smallest_diameter(scene)
    data = {
        "scene": scene_data(scene, centre, half),
        "times": _float32(times),
        "ghost": ghost,
        "bare": bare,
        "tracks": [_track(scene, track, times, size) for track in tracks],
    }
    page = files("validation.report").joinpath("player.html").read_text(encoding="utf-8")
    # A "<" might end the script element or begin another; JSON may write it as its number.
    text = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    shown = {"title": html.escape(title), "theme": theme}
    for name, value in shown.items():
        page = page.replace(f"{{{{{name}}}}}", value)
    page = page.replace("{{scripts}}", "\n".join(map(script, SCRIPTS)))
    return page.replace("{{data}}", text)


def _track(scene: Scene, track: Track, times: Array, size: float) -> dict[str, Any]:
    return {
        "label": track.label,
        "note": track.note,
        "poses": _float32(motion.poses_at(track.trajectory, times)),
        "forces": [np.round(frame, 5).tolist() for frame in motion.forces_at(scene, track.trajectory, times)],
        "contacts": contacts_at(track, times, CONTACT_GAP * size),
        "impacts": _float32(impact_times(track)),
        "series": {
            name: {"t": _float32(t[few]), "y": _float32(y[few])}
            for name, (t, y) in track.series.items()
            for few in [motion.thin(len(t), MOST_POINTS)]
        },
    }


def contacts_at(track: Track, times: Array, largest: float) -> list[list[list[float]]]:
    """For each frame what touches by our own geometry: [a, b, gap, point ...], m; of the sample before it.

    a and b are bodies, or boundaries after them; a gap above `largest` is left out.
    """
    near = track.near
    if near is None:
        return [[] for _ in times]
    near_enough = np.flatnonzero(near.gap <= largest)
    sample = np.clip(np.searchsorted(track.trajectory.time, times + 1e-9, side="right") - 1, 0, None)
    begin, end = (
        np.searchsorted(near.sample[near_enough], sample),
        np.searchsorted(near.sample[near_enough], sample, side="right"),
    )
    return [
        [
            [int(near.a[k]), int(near.b[k]), float(f"{near.gap[k]:.3g}"), *np.round(near.point_b[k], 5).tolist()]
            for k in near_enough[first:last]
        ]
        for first, last in zip(begin, end)
    ]


def impact_times(track: Track) -> Array:
    """s, as the engine reports them, or where a sample is repeated, before and after one."""
    impacts = track.trajectory.impacts
    time = np.asarray(track.trajectory.time)
    if impacts is None:
        found = np.unique(time[1:][np.diff(time) == 0.0])
    else:
        found = np.unique(impacts.time if impacts.parting is None else impacts.time[impacts.parting == 0])
    return np.asarray(found[motion.thin(len(found), MOST_IMPACTS)], dtype=np.float64)


def _float32(values: Array) -> str:
    return base64.b64encode(np.ascontiguousarray(np.nan_to_num(values), "<f4").tobytes()).decode()
