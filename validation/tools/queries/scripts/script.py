"""The script of a find: the engine is asked, and a point, a direction or two points prove that its answer is wrong."""

import math
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from reference_engine.array_types import Array
from reference_engine.geometry.bounds import pair_bounds
from validation.judging.sweeps import Find
from validation.tools.fuzzing.scripts.parts import ScriptError, numbers, rows
from validation.tools.fuzzing.scripts.shapes import extent_source
from validation.tools.queries.scripts.engines import ENGINES, Code

LONGEST = 60.0  # s of a script
SHOWN = 0.5  # of the error that was found


def write_scripts(
    folder: Path, engine: str, version: str, finds: Iterable[Find], *, is_here: bool
) -> Iterator[tuple[Path, str]]:
    """A file for each find; with the reason in place of an empty text where there is no script of one.

    `is_here`: the engine is in this Python: a script that does not show its find in a fresh process is not written.
    Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for find in finds:
        pair = "-".join(find.question.kinds)
        path = folder / f"{engine}-{find.query}-{pair}-{find.kind.replace(' ', '-')}.py"
        try:
            for asked_by in ways_to_ask(engine):
                path.write_text(script(engine, version, find, asked_by), encoding="utf-8")
                if not is_here or _shows(path):
                    break
            else:
                path.unlink()
                raise ScriptError("its script does not show it in a fresh process")
            yield path, ""
        except ScriptError as error:
            yield path, str(error)


def _shows(path: Path) -> bool:
    """By its exit status; one that crashes or hangs shows that."""
    try:
        done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0 and "Traceback" not in done.stderr


def ways_to_ask(engine: str) -> tuple[Callable[[Find], Code], ...]:
    """Raises ScriptError for an engine that has no scripts."""
    if engine not in ENGINES:
        raise ScriptError(f"there are no scripts of queries for {engine}; there are for {', '.join(ENGINES)}")
    return ENGINES[engine]


def script(engine: str, version: str, find: Find, asked_by: Callable[[Find], Code]) -> str:
    """Python source, with the engine's own settings: prints what the engine says and what is so; exit status 1 where
    the answer is wrong, else 0.

    Raises ScriptError for a find that a script cannot show.
    """
    pose, (first, second) = find.pose, find.question.shapes
    planar = pose.position.shape[2] == 2
    imports, asked = asked_by(find)
    answers = find.answers
    given = "it does not answer: " + find.reason if answers is None else ""
    head = f'"""{engine} {version}, {find.query}: {find.kind}, {first.kind} and {second.kind} ({find.class_of_pose}).'
    head += f'\n\n{given}"""' if given else '"""'
    return "\n".join(
        [
            head,
            "",
            "import sys",
            "",
            *imports,
            "import numpy as np",
            "",
            "# Where the centres of a and b are [m], and how they are turned"
            + (" [rad]" if planar else " (w, x, y, z, body to world)"),
            f"position = np.array({rows(pose.position[0])})",
            f"turn = np.array({numbers(pose.orientation[0]) if planar else rows(pose.orientation[0])})",
            "",
            asked.strip(),
            "",
            'print("engine: contact", contact, "gap", gap, "normal from a to b", normal)',
            "",
            *_evidence(find, planar),
            "",
        ]
    )


def _evidence(find: Find, planar: bool) -> list[str]:
    if find.answers is None:
        return []
    if find.kind == "not finite":
        return ["sys.exit(int(not np.isfinite([gap, *(normal if normal is not None else [])]).all()))"]
    first, second = find.question.shapes
    bounds = find.bounds
    lines = [
        "",
        "# What is so, by what the shapes are. How far a shape extends along directions in its own axes:",
        f"extent = [{extent_source(first)},",
        f"          {extent_source(second)}]",
        MATRIX[planar],
        "",
        "def gap_along(n):",
        '    """m: how far the two are apart along a unit direction from a to b; below 0: so much parts them."""',
        "    n = np.array(n)",
        "    a, b = (extent[k](np.array([sign * n @ matrix(turn[k])]))[0] for k, sign in ((0, 1), (1, -1)))",
        "    return n @ (position[1] - position[0]) - a - b",
        "",
        f"n = {numbers(bounds.normal[0])}  # a direction from a to b",
        f"least = {SHOWN * find.error!r}  # m",
        "",
    ]
    return lines + _proof(find, bounds.inside[0], bounds.point_a[0], bounds.point_b[0])


MATRIX = {
    False: """

def matrix(q):
    w, x, y, z = q / np.linalg.norm(q)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])

""",
    True: """

def matrix(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

""",
}


def _proof(find: Find, inside: Array, point_a: Array, point_b: Array) -> list[str]:
    match find.kind:
        case "overlap without contact":
            return [
                *_inside(find),
                f"point = np.array({numbers(inside)})",
                'print("this point is in both:", point, "scale of a and b about their centres that has it on the '
                'surface:", scales(point, position))',
                "sys.exit(int(max(scales(point, position)) < 1.0 and (not contact or gap > 0.0)))",
            ]
        case "contact without overlap":
            return [
                'print("they are apart along", n, "by", gap_along(n), "m")',
                "sys.exit(int(contact and gap_along(n) > least))",
            ]
        case "depth too small":
            return _still_overlapping(find)
        case "depth too large":
            return [
                'print("along", n, "this parts them:", -gap_along(n), "m")',
                "sys.exit(int(gap_along(n) - gap > least))",
            ]
        case "distance too large":
            return [
                *_inside(find),
                f"on_a, on_b = np.array({numbers(point_a)}), np.array({numbers(point_b)})",
                "scale = max(scales(on_a, position)[0], scales(on_b, position)[1])",
                'print("a point of a and one of b:", on_a, on_b, "their distance:", np.linalg.norm(on_b - on_a), "m")',
                "sys.exit(int(scale < 1.0 + 1e-6 and gap - np.linalg.norm(on_b - on_a) > least))",
            ]
        case "distance too small":
            return [
                'print("along", n, "they are apart by", gap_along(n), "m")',
                "sys.exit(int(gap_along(n) - gap > least))",
            ]
        case "normal on the wrong side":
            return [
                "normal = np.array(normal) / np.linalg.norm(normal)",
                'print("gap along its normal:", gap_along(normal), "m; the other way:", gap_along(-normal), "m")',
                "sys.exit(int(gap_along(-normal) - gap_along(normal) > least))",
            ]
        case _:
            return [
                "normal = np.array(normal) / np.linalg.norm(normal)",
                'print("gap along its normal:", gap_along(normal), "m; along", n, gap_along(n), "m")',
                "sys.exit(int(gap_along(n) - gap_along(normal) > least))",
            ]


def _still_overlapping(find: Find) -> list[str]:
    """Moved by what the engine says is the depth, they overlap as before: a point is in both."""
    answers, pose = find.answers, find.pose
    assert answers is not None
    length = float(np.sqrt((answers.normal[0] ** 2).sum()))
    way = answers.normal[0] / length if length > 0.5 and math.isfinite(length) else find.bounds.normal[0]
    moved = pose.position.copy()
    moved[0, 1] -= float(answers.gap[0]) * way
    after = pair_bounds(find.question.geometries, moved, pose.orientation)
    if not after.overlaps[0]:
        raise ScriptError("a script of a depth too small has no point that is in both bodies after the move")
    return [
        *_inside(find),
        f"way = np.array(normal) / np.linalg.norm(normal) if normal is not None else np.array({numbers(way)})",
        "moved = position + [np.zeros(len(way)), -gap * way]",
        f"point = np.array({numbers(after.inside[0])})",
        'print("after moving b by that depth along", way, "this point is still in both:", point, "scales:", '
        "[float(scale) for scale in scales(point, moved)])",
        "sys.exit(int(max(scales(point, moved)) < 1.0))",
    ]


def _inside(find: Find) -> list[str]:
    first, second = find.question.shapes
    return [
        "",
        "# By what factor a shape is scaled to have a point of its own axes on its surface: below 1 inside",
        f"scale_of = [{gauge_source(first)},",
        f"            {gauge_source(second)}]",
        "",
        "",
        "def scales(point, position):",
        "    return [scale_of[k]((point - position[k]) @ matrix(turn[k])) for k in (0, 1)]",
        "",
        "",
    ]


def gauge_source(shape: Any) -> str:
    """Source of a function of a point."""
    match shape.kind:
        case "sphere" | "disc":
            return f"lambda x: np.linalg.norm(x) / {shape.radius!r}"
        case "box":
            return f"lambda x: np.max(np.abs(x) / {numbers(np.array(shape.size) / 2.0)})"
        case "capsule":
            h = shape.length / 2.0
            return f"lambda x: np.linalg.norm([np.hypot(x[0], x[1]), max(0.0, abs(x[2]) - {h!r})]) / {shape.radius!r}"
        case "cylinder":
            return f"lambda x: max(np.hypot(x[0], x[1]) / {shape.radius!r}, abs(x[2]) / {shape.length / 2.0!r})"
        case "ellipsoid":
            return f"lambda x: np.linalg.norm(x / {numbers(shape.semi_axes)})"
        case "convex-mesh" | "polygon":
            faces, offsets = _faces(shape)
            return f"lambda x: np.max(np.array({rows(faces)}) @ x / np.array({numbers(offsets)}))"
    raise ScriptError(f"a script does not measure the shape {shape.kind!r}")


def _faces(shape: Any) -> tuple[Array, Array]:
    from reference_engine.geometry.bounds import Extents
    from scenarios.geometry import SHAPES

    extents = Extents(SHAPES[shape.kind](shape))
    return extents.faces, extents.offsets
