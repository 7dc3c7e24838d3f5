"""Draws the pictures of docs/gallery.md from the examples themselves: each is run, and what it computed is drawn.

    python -P ci/gallery.py            all of them
    python -P ci/gallery.py ladder     those named

An example is a Python block that leaves `world` and `motion`, followed by its picture. Bodies are drawn at a few
times, the last one darkest; contact forces with their friction as red lines that begin where they act, as long as
they are large; impacts as rings; the paths of centres of mass dotted.
"""

import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reference_engine import Bowl, Disc, Edge, Motion, Outline, Polygon, Rope, World
from reference_engine.array_types import Array

DOCS = Path(__file__).parents[1] / "docs"


@dataclass(frozen=True, slots=True)
class Shot:
    """What is drawn of a motion."""

    times: tuple[float, ...]  # s
    longest: float = 70.0  # px, of the largest force
    impacts: bool = True


SHOTS = {
    "knocked-block": Shot((0.0, 0.5, 0.62, 8.0)),
    "tumbling-block": Shot((0.0, 0.3, 0.56, 0.72, 0.9, 1.1, 3.0)),
    "stack": Shot((1.0,), longest=24.0),
    "ladder": Shot((0.0, 0.2, 0.34, 0.46, 0.58, 0.68)),
    "rough-ladder": Shot((0.0, 0.3, 0.44, 0.52)),
    "bowl": Shot((0.0, 0.35, 0.6, 0.86, 1.1, 1.4, 1.73)),
    "backspin": Shot((0.0, 0.3, 0.6, 1.5, 3.0)),
    "dominoes": Shot((0.0, 0.5), impacts=False),
    "double-pendulum": Shot((0.0, 0.2, 0.4, 0.6, 0.8)),
    "rope": Shot((0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2)),
    "half-disc": Shot((0.0, 0.4, 0.8)),
    "bin": Shot((3.0,), impacts=False),
}
WIDTH, HEIGHT, MARGIN = 640.0, 330.0, 30.0  # px, at most; the drawn bodies fill it
FAR = 100.0  # m, beyond every picture
GREY, BODY, RED, RING = "#c9c9c4", "#4a6fa5", "#d62718", "#e08a00"


def examples(page: str) -> dict[str, str]:
    """Name of the picture -> the code above it, in the order of the page."""
    blocks = re.findall(r"```python\n(.*?)```\n+!\[[^\]]*\]\(gallery/([a-z-]+)\.svg\)", page, re.DOTALL)
    return {name: code for code, name in blocks}


def computed(code: str) -> tuple[World, Motion]:
    names: dict[str, object] = {}
    exec(code, names)
    world, motion = names["world"], names["motion"]
    assert isinstance(world, World) and isinstance(motion, Motion)
    return world, motion


@dataclass(frozen=True, slots=True)
class View:
    """From metres, y up, to pixels, y down."""

    low: Array  # (2,) m, lower left corner of the picture
    scale: float  # px/m
    size: tuple[float, float]  # px

    def at(self, point: Array) -> Array:
        x = (np.asarray(point) - self.low) * self.scale
        return np.stack([x[..., 0], self.size[1] - x[..., 1]], axis=-1)


def view_of(points: Array) -> View:
    """Holds all points, with a margin."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent = np.maximum(high - low, 1e-6)
    scale = float(min((WIDTH - 2.0 * MARGIN) / extent[0], (HEIGHT - 2.0 * MARGIN) / extent[1]))
    width, height = extent * scale + 2.0 * MARGIN
    return View(low - MARGIN / scale, scale, (float(width), float(height)))


def turned(points: Array, pose: Array) -> Array:
    """From the body to the world. (P, 2) or (2,)"""
    c, s = math.cos(pose[2]), math.sin(pose[2])
    return np.asarray(points) @ np.array([[c, s], [-s, c]]) + pose[:2]


def loops(shape: object) -> list[Array]:
    """The closed curves of a shape in its body's frame [m], arcs as short chords; what has no end goes on to FAR."""
    if isinstance(shape, Polygon):
        return [shape.vertices]
    if isinstance(shape, Outline):
        return [
            np.concatenate([along(edge) for edge in shape.edges[first:end]]) - shape.centre_of_mass
            for first, end in shape.loops
        ]
    frame = FAR * np.array([(-1.0, 0.0), (-1.0, -1.0), (1.0, -1.0), (1.0, 0.0)])
    if not isinstance(shape, Disc | Bowl):
        return [frame]
    round_ = np.linspace(0.0, 2.0 * math.pi, 73)[:-1]
    circle = shape.radius * np.stack([np.cos(round_), np.sin(round_)], axis=1)
    return [circle] if isinstance(shape, Disc) else [circle, 2.0 * frame + (0.0, FAR)]


def along(edge: Edge) -> Array:
    """From the start of an edge to just before its end."""
    if edge.centre is None:
        return np.array([edge.start])
    low, high = edge.angles()
    turn = np.linspace(high, low, 33)[:-1] if edge.clockwise else np.linspace(low, high, 33)[:-1]
    return np.array(edge.centre) + edge.radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)


def path(points: Array, view: View, *, close: bool = True) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in view.at(points)) + ("Z" if close else "")


def outline(shape: object, pose: Array, view: View) -> str:
    return "".join(path(turned(loop, pose), view) for loop in loops(shape))


def ghost(world: World, pose: Array, view: View, strength: float) -> list[str]:
    """The moving bodies at one instant."""
    drawn = []
    for body, at in zip(world.bodies, pose):
        if body.fixed:
            continue
        whole = outline(body.shape, at, view)
        if isinstance(body.shape, Disc):  # a spoke shows how it has turned
            whole += path(turned(np.array([(0.0, 0.0), (body.shape.radius, 0.0)]), at), view, close=False)
        drawn.append(
            f'<path d="{whole}" fill="{BODY}" fill-opacity="{0.35 * strength:.2f}" fill-rule="evenodd" '
            f'stroke="{BODY}" stroke-opacity="{strength:.2f}" stroke-width="1.5"/>'
        )
    for connector in world.connectors:
        if isinstance(connector, Rope):
            tied = (connector.first, connector.first_point), (connector.second, connector.second_point)
            ends = np.array([turned(p, pose[k] if k >= 0 else np.zeros(3)) for k, p in tied])
            drawn.append(f'<path d="{path(ends, view, close=False)}" stroke="#555" stroke-opacity="{strength:.2f}"/>')
    return drawn


def force_lines(motion: Motion, sample: int) -> tuple[Array, Array]:
    """Where contact forces act and what they are on the second body: (N, 2) m, (N, 2) N, friction included."""
    c = motion.contacts_at(sample)
    tangent = np.stack([-c.normal[:, 1], c.normal[:, 0]], axis=1)
    return c.point, c.force[:, None] * c.normal + c.friction[:, None] * tangent


def round_number(most: float) -> float:
    """The largest 1, 2 or 5 times a power of ten that is no more."""
    power = 10.0 ** math.floor(math.log10(most))
    return power * max(k for k in (1, 2, 5) if k * power <= most * (1.0 + 1e-12))


def rings(motion: Motion, until: float, view: View) -> list[str]:
    """Impacts; the area of a ring is as its impulse."""
    i = motion.impacts
    past = i.time <= until
    hardest = float(i.impulse[past].max(initial=0.0))
    drawn = []
    for point, impulse in zip(i.point[past], i.impulse[past]):
        if impulse > 0.01 * hardest:
            (x, y), radius = view.at(point), 9.0 * math.sqrt(impulse / hardest)
            drawn.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="none" stroke="{RING}" stroke-width="1.5"/>'
            )
    return drawn


def red_lines(motion: Motion, shown: list[int], view: View, longest: float) -> list[str]:
    """The contact forces of the samples that are shown, and their scale."""
    lines = [force_lines(motion, k) for k in shown]
    largest = max((float(np.hypot(*force.T).max()) for _, force in lines if len(force)), default=0.0)
    if largest == 0.0:
        return []
    drawn = []
    for where, force in lines:
        for point, vector in zip(where, force):
            if np.hypot(*vector) > 1e-3 * largest:
                start, along = view.at(point), vector * (longest / largest) * (1.0, -1.0)
                drawn.append(line(start, start + along))
    unit, right = round_number(largest), view.size[0] - 12.0
    drawn.append(line(np.array([right - unit * longest / largest, 14.0]), np.array([right, 14.0])))
    drawn.append(
        f'<text x="{right:.1f}" y="28" text-anchor="end" font-family="sans-serif" font-size="11" fill="{RED}">'
        f"{unit:g} N</text>"
    )
    return drawn


def line(start: Array, end: Array) -> str:
    (x1, y1), (x2, y2) = start, end
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{RED}" stroke-width="2"/>'


def picture(world: World, motion: Motion, shot: Shot) -> str:
    """The SVG document."""
    shown = [int(np.searchsorted(motion.time, t - 1e-9)) for t in shot.times]
    moving = [i for i, body in enumerate(world.bodies) if not body.fixed]
    points = [turned(loop, motion.pose[k, i]) for k in shown for i in moving for loop in loops(world.bodies[i].shape)]
    tracks = [motion.pose[: shown[-1] + 1, i, :2] for i in moving] if len(moving) <= 2 else []
    points += tracks
    points += [np.zeros((1, 2))] if world.connectors else []  # where the background holds them
    view = view_of(np.concatenate(points))

    drawn = [
        f'<path d="{outline(body.shape, at, view)}" fill="{GREY}" fill-rule="evenodd"/>'
        for body, at in zip(world.bodies, motion.pose[0])
        if body.fixed
    ]
    drawn += [
        f'<path d="{path(track, view, close=False)}" fill="none" stroke="#888" stroke-dasharray="1 4"/>'
        for track in tracks
    ]
    for order, k in enumerate(shown):
        drawn += ghost(world, motion.pose[k], view, 0.3 + 0.7 * (order + 1) / len(shown))
    if shot.impacts:
        drawn += rings(motion, shot.times[-1], view)
    drawn += red_lines(motion, shown, view, shot.longest)
    width, height = view.size
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.1f} {height:.1f}">\n<rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join(drawn)
        + "\n</svg>\n"
    )


def main(wanted: list[str]) -> None:
    known = examples((DOCS / "gallery.md").read_text(encoding="utf-8"))
    unknown = [name for name in wanted if name not in known]
    if unknown:
        sys.exit(f"{unknown[0]}: no picture of docs/gallery.md; it has {', '.join(known)}")
    for name in wanted or known:
        world, motion = computed(known[name])
        (DOCS / "gallery" / f"{name}.svg").write_text(picture(world, motion, SHOTS[name]), encoding="utf-8")
        print(f"docs/gallery/{name}.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
