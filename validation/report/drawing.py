"""What `drawing.js` needs: its own text, for a page to inline, and a scene as it draws it."""

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from reference_engine.array_types import Array
from scenarios.mass import bounding_radius
from scenarios.scene import PlanarScene, Scene
from validation.report import motion

DEEP = 1e-2  # of the smallest free body's diameter: a body that is in another by so much is as red as it gets


@cache
def script(name: str = "drawing.js") -> str:
    """The text of a script of this folder; its first comment documents what it defines."""
    return files("validation.report").joinpath(name).read_text(encoding="utf-8")


def smallest_diameter(scene: Scene) -> float:
    """m, of the free bodies, about their centres of mass."""
    return 2.0 * min(bounding_radius(body.shape) for body in scene.bodies if not body.fixed)


def scene_data(scene: Scene, centre: Array, half: float, aspect: float = 1.0) -> dict[str, Any]:
    """For JSON: outlines, boundaries and scales. The picture shows `half` m to each side of `centre`, (2,) or (3,) m,
    and `aspect` times as much above and below."""
    return {
        "planar": isinstance(scene, PlanarScene),
        "names": [member.name for member in (*scene.bodies, *scene.boundaries)],
        "outlines": [[np.round(line, 6).tolist() for line in lines] for lines in motion.outlines(scene)],
        "fixed": [body.fixed for body in scene.bodies],
        "boundaries": [np.round(line, 6).tolist() for line in motion.boundary_outlines(scene, 4 * half)],
        "links": [
            {
                "a": tie.a,
                "b": -1 if tie.b is None else tie.b,
                "from": tie.anchor_a.tolist(),
                "to": tie.anchor_b.tolist(),
                "elastic": tie.elastic,
                "path": [[time, *point] for time, point in tie.pull.anchor_path or ()] if tie.pull else None,
            }
            for tie in motion.links(scene)
        ],
        "centre": centre.tolist(),
        "half": half,
        "aspect": aspect,
        "camera": motion.CAMERA,
        "forceScale": motion.force_scale(scene, half),
        "deep": DEEP * smallest_diameter(scene),
    }
