"""Bowls and hollow spheres, which no engine has: the facets that stand for them, as source in a few lines of numpy.

The numbers are those of `validation.engines.shared`, made by the same operations, so that they have the same bits.
"""

from typing import Any

from validation.engines.engine import Value
from validation.engines.shared.embedding import DEPTH
from validation.tools.fuzzing.scripts.parts import numbers, one_line

ROUND = ("bowl", "hollow-sphere")


def mesh_source(boundary: Any, settings: dict[str, Value], *, inwards: bool) -> list[str]:
    """`vertices` (K, 3) m about its centre, and `triangles` (T, 3), which face inwards where that is asked for."""
    if boundary.kind == "hollow-sphere":
        return [
            f"# {one_line(boundary.name)}: a hollow sphere of triangles",
            f"directions, triangles = icosphere({int(settings['sphere_subdivisions'])})",
            *(INWARDS if inwards else []),
            f"vertices = {boundary.radius!r} * directions",
        ]
    count = int(settings["bowl_segments"])
    sides = ("[i, j + {0}, j]", "[i, i + {0}, j + {0}]") if inwards else ("[i, j, j + {0}]", "[i, j + {0}, i + {0}]")
    first, second = (side.format(count) for side in sides)
    return [
        f"# {one_line(boundary.name)}: a bowl of {count} facets",
        f"around = 2 * math.pi * np.arange({count}) / {count}",
        f"rim = {boundary.radius!r} * np.column_stack([np.cos(around), np.sin(around)])",
        f"vertices = np.concatenate([np.column_stack([rim, np.full({count}, z)]) for z in {numbers((-DEPTH, DEPTH))}])",
        f"i = np.arange({count})",
        f"j = (i + 1) % {count}",
        f"triangles = np.concatenate([np.column_stack({first}), np.column_stack({second})])",
    ]


INWARDS = [
    "a, b, c = (directions[triangles[:, k]] for k in range(3))",
    "outward = (np.cross(b - a, c - a) * a).sum(axis=1) > 0.0",
    "triangles[outward] = triangles[outward][:, ::-1]",
]


def facets_source(bowl: Any, count: int) -> list[str]:
    """`corners` (count, 2) m in the world, of a planar bowl's facets, counter-clockwise."""
    return [
        f"# {one_line(bowl.name)}: a bowl of {count} facets, which touch its circle in their middles",
        f"around = 2.0 * math.pi * (np.arange({count}) + 0.5) / {count}",
        f"outer = {bowl.radius!r} / math.cos(math.pi / {count})",
        f"corners = np.array({numbers(bowl.center)}) + outer * np.stack([np.cos(around), np.sin(around)], axis=1)",
    ]
