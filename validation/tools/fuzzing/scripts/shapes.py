"""Source that measures how deep bodies are in one another: from how far each extends along directions."""

from typing import Any

import numpy as np

from reference_engine.dense import norm
from scenarios.scene import PlanarScene
from validation.tools.fuzzing.scripts.closing import Find, matrix_source
from validation.tools.fuzzing.scripts.parts import ScriptError, numbers, one_line, rows
from validation.tools.fuzzing.scripts.walls import ROUND


def extent_source(shape: Any) -> str:
    """Source of a function: how far a shape extends along directions (K, D) in its own axes, from its centre."""
    match shape.kind:
        case "sphere" | "disc":
            return f"lambda d: np.full(len(d), {shape.radius!r})"
        case "box":
            return f"lambda d: np.abs(d) @ {numbers(np.array(shape.size) / 2.0)}"
        case "capsule":
            return f"lambda d: {shape.radius!r} + {shape.length / 2.0!r} * np.abs(d[:, 2])"
        case "cylinder":
            return f"lambda d: {shape.radius!r} * np.hypot(d[:, 0], d[:, 1]) + {shape.length / 2.0!r} * np.abs(d[:, 2])"
        case "ellipsoid":
            return f"lambda d: np.linalg.norm(d * {numbers(shape.semi_axes)}, axis=1)"
        case "convex-mesh":
            return f"lambda d: (d @ np.array({rows(shape.points)}).T).max(axis=1)"
        case "polygon":
            return f"lambda d: (d @ np.array({rows(shape.vertices)}).T).max(axis=1)"
    raise ScriptError(f"a script does not measure the shape {shape.kind!r}")


DIRECTIONS_IN_SPACE = """
# Directions, spread evenly over the sphere, along which overlaps are measured
k = np.arange(2000)
z = (2 * k + 1) / len(k) - 1
around = np.pi * (3 - np.sqrt(5)) * k
directions = np.stack([np.sqrt(1 - z * z) * np.cos(around), np.sqrt(1 - z * z) * np.sin(around), z], axis=1)
directions = np.concatenate([directions, np.eye(3), -np.eye(3)])
"""
DIRECTIONS_IN_PLANE = """
# Directions along which overlaps are measured
around = np.arange(0, 2 * np.pi, np.pi / 360)
directions = np.stack([np.cos(around), np.sin(around)], axis=1)
"""
OVERLAP = '''
def overlap(k, a, b):
    """m, of two bodies at step k: the least along any direction, and along the axes of either; below 0 a gap."""
    A, B = matrix(turn[k, a]), matrix(turn[k, b])
    d = np.concatenate([directions, A.T, -A.T, B.T, -B.T])
    return (extent[a](d @ A) + extent[b](-d @ B) - d @ (position[k, b] - position[k, a])).min()


'''
DEPTH = '''
def depth(k, a, normal, point):
    """m, of a body's lowest point below a plane at step k; below 0 a gap."""
    lowest = extent[a](-np.array([normal]) @ matrix(turn[k, a]))[0]
    return lowest - (position[k, a] - np.array(point)) @ np.array(normal)


'''


BEYOND = '''
def beyond(k, a, center, radius):
    """m, by which a body's furthest point is outside the wall of a bowl or hollow sphere; below 0 a gap."""
    way = position[k, a] - np.array(center)
    outward = way / max(np.linalg.norm(way), 1e-12)
    d = np.concatenate([directions, [outward]])
    return (d @ way + extent[a](d @ matrix(turn[k, a]))).max() - radius


'''


def shapes_source(
    find: Find, which: list[int], *, pairs: bool, planes: bool, walls: bool = False
) -> tuple[str, tuple[str, ...]]:
    """Tables for measuring overlaps of these bodies with one another, with planes or with walls around them, and the
    functions that do."""
    directions = DIRECTIONS_IN_PLANE if isinstance(find.scene, PlanarScene) else DIRECTIONS_IN_SPACE
    bodies = [(i, find.scene.bodies[i]) for i in which]
    extents = [f"    {i}: {extent_source(body.shape)},  # {one_line(body.name)}" for i, body in bodies]
    table = [
        *([directions] if pairs or walls else []),
        "# How far each body extends from its centre, along directions in its own axes",
        "extent = {",
        *extents,
        "}",
    ]
    given = (OVERLAP, pairs), (DEPTH, planes), (BEYOND, walls)
    functions = (matrix_source(find), *(source for source, there in given if there))
    return "\n".join(table) + "\n\n", functions


def gap_below(body: int, boundary: Any) -> str:
    """Source: how deep a body is in a boundary at step k, m; below 0 a gap."""
    if boundary.kind in ROUND:
        return f"beyond(k, {body}, {numbers(boundary.center)}, {boundary.radius!r})"
    normal = np.array(boundary.normal) / norm(np.array(boundary.normal))
    return f"depth(k, {body}, {numbers(normal)}, {numbers(boundary.point)})"
