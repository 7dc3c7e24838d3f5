"""A page that plays motions: HTML without any outside reference; engines side by side, or over each other.

Every sample is sent as long as POSE_BYTES and MOST_CONTACTS allow, else every nth; curves have at most 1,500 points.
"""

import base64
import html
import json
from collections.abc import Sequence
from dataclasses import asdict
from importlib.resources import files
from typing import Any, Literal

import numpy as np

from reference_engine.array_types import Array, Indices
from scenarios.scene import Scene
from validation.report import motion
from validation.report.drawing import scene_data, script, smallest_diameter
from validation.report.motion import Track

POSE_BYTES = 2_000_000  # of a motion, as numbers of four bytes
MOST_CONTACTS = 60_000  # of a motion, over all samples that are sent
MOST_POINTS = 1500  # of a curve
MOST_IMPACTS = 400  # of a motion, as marks below the curves
MOST_EVENTS = 12  # of a motion
CONTACT_GAP = 1e-3  # of the smallest free body's diameter: a smaller gap is shown as a contact
LARGEST = 3e38  # what a number of four bytes has
SCRIPTS = ("vectors.js", "drawing.js", "gif.js", "player.js")

Theme = Literal["light", "dark", ""]


def motion_html(
    scene: Scene,
    tracks: Sequence[Track],
    title: str,
    *,
    ghost: bool = False,
    bare: bool = False,
    theme: Theme = "",
    absent: Sequence[str] = (),
) -> str:
    """Play, steps, events, zoom, exaggeration, export; spatial scenes turn by dragging.

    `ghost` begins with all tracks over each other; `bare` leaves title, curves and most of the bar out. Without a theme
    the page is light or dark as the reader's system is. `absent` are sentences about motions that there are not.
    """
    centre, half = motion.extent(scene, tracks)
    data = {
        "title": title,
        "scene": scene_data(scene, centre, half, motion.aspect(scene, tracks)),
        "forceShown": motion.FORCE_SHOWN,
        "ghost": ghost,
        "bare": bare,
        "absent": list(absent),
        "tracks": [_track(scene, track) for track in tracks],
    }
    page = files("validation.report").joinpath("player.html").read_text(encoding="utf-8")
    # A "<" might end the script element or begin another; JSON may write it as its number.
    text = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    shown = {"title": html.escape(title), "theme": theme}
    for name, value in shown.items():
        page = page.replace(f"{{{{{name}}}}}", value)
    page = page.replace("{{scripts}}", "\n".join(map(script, SCRIPTS)))
    return page.replace("{{data}}", text)


def _track(scene: Scene, track: Track) -> dict[str, Any]:
    largest = CONTACT_GAP * smallest_diameter(scene)
    poses = motion.poses_at(track.trajectory, track.trajectory.time)
    if poses.shape[2] == 7:
        poses[..., 3:] = _continuous(poses[..., 3:])
    sent = samples_sent(track, poses, largest)
    reported, forces = motion.reported_forces(scene, track.trajectory)
    return {
        "label": track.label,
        "note": track.note,
        "ended": track.ended,
        "samples": len(poses),
        "sample": sent.tolist(),
        "time": np.asarray(track.trajectory.time)[sent].tolist(),
        "start": poses[0].ravel().tolist(),
        "moved": _float32(poses[sent] - poses[0]),
        "contacts": _ragged(contacts_at(track, sent, largest)),
        "forces": {"time": reported.tolist(), **_ragged([np.array(rows) for rows in forces])},
        "impacts": _float32(impact_times(track)),
        "events": [asdict(event) for event in sorted(track.events, key=lambda event: event.time)[:MOST_EVENTS]],
        "series": {
            name: {"t": _float32(t[few]), "y": _float32(y[few])}
            for name, (t, y) in track.series.items()
            for few in [motion.thin(len(t), MOST_POINTS)]
        },
    }


def samples_sent(track: Track, poses: Array, largest: float) -> Indices:
    """Of (S, B, 3 or 7) poses those that the page gets: all, or every nth and the last."""
    contacts = 0 if track.near is None else int((track.near.gap <= largest).sum())
    nth = max(1, -(-poses.size * 4 // POSE_BYTES), -(-contacts // MOST_CONTACTS))
    last = len(poses) - 1
    return np.unique(np.append(np.arange(0, last, nth), last))


def contacts_at(track: Track, samples: Indices, largest: float) -> list[Array]:
    """For each of these samples what touches by our own geometry: (C, 5 or 6) rows of a, b, gap, point; m.

    a and b are bodies, or boundaries after them; a gap above `largest` is left out.
    """
    near = track.near
    if near is None:
        return [np.zeros((0, 0)) for _ in samples]
    enough = np.flatnonzero(near.gap <= largest)
    rows = np.column_stack([near.a[enough], near.b[enough], near.gap[enough], near.point_b[enough]])
    begin = np.searchsorted(near.sample[enough], samples)
    end = np.searchsorted(near.sample[enough], samples, side="right")
    return [rows[first:last] for first, last in zip(begin, end)]


def impact_times(track: Track) -> Array:
    """s, as the engine reports them, or where a sample is repeated, before and after one."""
    impacts = track.trajectory.impacts
    time = np.asarray(track.trajectory.time)
    if impacts is None:
        found = np.unique(time[1:][np.diff(time) == 0.0])
    else:
        found = np.unique(impacts.time if impacts.parting is None else impacts.time[impacts.parting == 0])
    return np.asarray(found[motion.thin(len(found), MOST_IMPACTS)], dtype=np.float64)


def _continuous(q: Array) -> Array:
    """(S, B, 4) quaternions of which each is on the side of the one before."""
    turned = (q[1:] * q[:-1]).sum(axis=2) < 0.0
    return np.asarray(np.concatenate([q[:1], q[1:] * np.cumprod(np.where(turned, -1.0, 1.0), axis=0)[..., None]]))


def _ragged(groups: Sequence[Array]) -> dict[str, Any]:
    """Rows of all groups, one after the other, how long a row is, and where each group begins."""
    filled = [rows for rows in groups if rows.size]
    return {
        "first": np.concatenate([[0], np.cumsum([len(rows) for rows in groups])]).astype(int).tolist(),
        "width": filled[0].shape[1] if filled else 0,
        "rows": _float32(np.concatenate(filled) if filled else np.zeros(0)),
    }


def _float32(values: Array) -> str:
    values = np.clip(np.nan_to_num(values), -LARGEST, LARGEST)
    return base64.b64encode(np.ascontiguousarray(values, "<f4").tobytes()).decode()
