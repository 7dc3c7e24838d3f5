"""Motion as files to look at: an animated GIF and a still picture."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reference_engine import rotation
from reference_engine.array_types import Array
from scenarios.scene import PlanarScene, Scene, SpatialScene
from validation.records.quantities import quantity
from validation.report.motion import (
    CAMERA,
    Link,
    Track,
    aspect,
    boundary_outlines,
    extent,
    force_scale,
    forces_at,
    frame_times,
    links,
    outlines,
    poses_at,
    thin,
)

ARROW, LEGEND = 8, 70  # pixels: an arrow's head, and the longest arrow that shows the scale of forces
DOT = 3  # pixels: half the moving end of a pull
BACKGROUND, GROUND, BODY, EDGE, FORCE, TEXT = "#ffffff", "#b8bec6", "#cfe0f3", "#1f4e79", "#d62728", "#222222"
TIE, PULL, PATH = "#5b6470", "#b45309", "#e3c4a4"


def motion_gif(scene: Scene, tracks: Sequence[Track], path: Path, *, size: int = 320, most: int = 150) -> None:
    """An animated GIF of at most `most` frames in real time where that many suffice."""
    times = frame_times(tracks)
    times = times[thin(len(times), most)]
    images = _pictures(scene, tracks, times, size)
    pause = max(20, round(1000.0 * float(times[-1]) / len(times)))
    images[0].save(path, save_all=True, append_images=images[1:], duration=pause, loop=0)


def motion_png(scene: Scene, tracks: Sequence[Track], path: Path, *, at: float | None = None, size: int = 420) -> None:
    """A still picture at time `at`, the end by default."""
    end = float(frame_times(tracks)[-1])
    _pictures(scene, tracks, np.array([end if at is None else min(at, end)]), size)[0].save(path)


def _pictures(scene: Scene, tracks: Sequence[Track], times: Array, size: int) -> list[Any]:
    from PIL import Image, ImageDraw

    centre, half = extent(scene, tracks)
    height = round(aspect(scene, tracks) * size)
    shapes = outlines(scene)
    ground = boundary_outlines(scene, 4 * half)
    ties = links(scene)
    scale = size / (2.0 * half)
    view = _camera(scene)
    poses = [poses_at(track.trajectory, times) for track in tracks]
    forces = [forces_at(scene, track.trajectory, times) for track in tracks]
    newton = force_scale(scene, half)

    def pixels(points: Array, left: float) -> list[tuple[float, float]]:
        flat = (points - centre) @ view.T
        return [(left + size / 2 + scale * float(p[0]), height / 2 + 20 - scale * float(p[1])) for p in flat]

    images = []
    for k, t in enumerate(times):
        image = Image.new("RGB", (size * len(tracks), height + 20), BACKGROUND)
        for column, track in enumerate(tracks):
            left = column * size
            panel = Image.new("RGB", (size, height + 20), BACKGROUND)
            draw = ImageDraw.Draw(panel)
            for line in ground:
                draw.line(pixels(line, 0), fill=GROUND, width=2)
            for lines, body, pose in zip(shapes, scene.bodies, poses[column][k]):
                for line in lines:
                    moved = pixels(_moved(line, pose), 0)
                    if isinstance(scene, PlanarScene) and len(line) > 2:
                        draw.polygon(moved, fill=GROUND if body.fixed else BODY)
                    draw.line(moved, fill=GROUND if body.fixed else EDGE, width=1)
            for tie in ties:
                if tie.pull is not None:
                    draw.line(pixels(np.array([point for _, point in tie.pull.anchor_path or ()]), 0), fill=PATH)
                if (ends := _ends(tie, poses[column][k], t)) is not None:
                    colour, width = (PULL, 2) if tie.pull else (TIE, 1 if tie.elastic else 2)
                    draw.line(pixels(ends, 0), fill=colour, width=width)
                    if tie.pull:
                        (x, y) = pixels(ends[1:], 0)[0]
                        draw.ellipse((x - DOT, y - DOT, x + DOT, y + DOT), fill=PULL)
            for row in forces[column][k]:
                point, force = np.array(row[1:]).reshape(2, -1)
                _draw_arrow(draw, *pixels(np.array([point, point + newton * force]), 0))
            if any(forces[column]):
                _draw_scale(draw, newton * scale, height + 10)
            ended = f", ended at {track.trajectory.time[-1]:.4g} s" if track.ended else ""
            draw.text((6, 4), f"{track.label}   t = {t:.2f} s{ended}", fill=TEXT)
            image.paste(panel, (left, 0))
        images.append(image)
    return images


def _ends(tie: Link, poses: Array, time: float) -> Array | None:
    """(2, 2 or 3) m: where a joint or spring begins and ends; None while a pull does not act."""
    start = _moved(tie.anchor_a, poses[tie.a])
    if tie.pull is not None:
        return np.array([start, tie.pull.world_end(time)[0]]) if tie.pull.acts(time) else None
    return np.array([start, tie.anchor_b if tie.b is None else _moved(tie.anchor_b, poses[tie.b])])


def _draw_arrow(draw: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    along = np.subtract(end, start)
    length = float(np.hypot(*along))
    if length < 1.0:
        return
    head = min(ARROW, 0.5 * length) / length * along
    across = 0.45 * np.array([-head[1], head[0]])
    draw.line([start, tuple(end - head)], fill=FORCE, width=2)
    draw.polygon([end, tuple(end - head + across), tuple(end - head - across)], fill=FORCE)


def _draw_scale(draw: Any, each: float, y: float) -> None:
    """An arrow with its force, of which a newton is `each` pixels long: 1, 2 or 5 times a power of ten."""
    most = LEGEND / each
    power = 10.0 ** math.floor(math.log10(most))
    force = power * max(k for k in (1, 2, 5) if k * power <= most)
    _draw_arrow(draw, (8.0, y), (8.0 + each * force, y))
    draw.text((14.0 + each * force, y - 6), quantity(force, "N"), fill=FORCE)


def _moved(line: Array, pose: Array) -> Array:
    if len(pose) == 3:
        c, s = math.cos(pose[2]), math.sin(pose[2])
        return pose[:2] + line @ np.array([[c, s], [-s, c]])
    return pose[:3] + line @ rotation.matrices(pose[3:]).T


def _camera(scene: Scene) -> Array:
    """(2, 2 or 3): what of a world vector points right and up in the picture."""
    if not isinstance(scene, SpatialScene):
        return np.eye(2)
    a, e = CAMERA
    return np.array(
        [[math.cos(a), math.sin(a), 0.0], [-math.sin(a) * math.sin(e), math.cos(a) * math.sin(e), math.cos(e)]]
    )
