"""Scenes that differ a little from given ones: something moved, heavier, larger, faster, rougher, gone or doubled;
gravity from another direction.

Shrinking goes towards the first given scene with one small change. What makes no valid scene is not made.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from reference_engine import elementary
from scenarios.forces import is_driven
from scenarios.scene import Scene, parse_scene, write_scene
from scenarios.scene_error import SceneError
from scenarios.strategies.values import FAST, GRID

Data = dict[str, Any]
Draw = Callable[[st.SearchStrategy[Any]], Any]
Mutation = Callable[[Draw, Data], None]
MOST = 3  # mutations of a scene
LONGEST = 2.0  # s: of longer scenes the beginning
MOST_BODIES = 12
NUDGES = (1, -1, 16, -16, 128, -128)  # in 1/1024 m
FACTORS = (2.0, 0.5, 10.0, 0.1)
LEANS = (0.1, -0.1, 0.5, np.pi / 2.0, np.pi)  # rad, of gravity, from down towards x
LENGTHS = ("radius", "length", "size", "semi_axes", "vertices", "points")


def is_mutable(scene: Scene) -> bool:
    """Whether the laws of the search hold of what becomes of it: passive, rigid contacts of no stated law; small."""
    stated = scene.contact.compliant or scene.contact.impact_law or scene.contact.impact_order
    driven = scene.thrusters or is_driven(scene)
    return not (stated or driven) and len(scene.bodies) <= MOST_BODIES


@st.composite
def mutated(draw: Draw, scenes: Sequence[Scene], least: int = 1) -> tuple[Scene, Scene]:
    """One of the scenes, and what it was mutated to, by `least` changes or more."""
    start = scenes[draw(st.integers(0, len(scenes) - 1))]
    found = start
    for _ in range(draw(st.integers(least, MOST))):
        data: Data = json.loads(write_scene(found, indent=None))
        data["duration"] = min(data["duration"], LONGEST)
        draw(st.sampled_from(MUTATIONS))(draw, data)
        try:
            found = parse_scene(data)
        except SceneError:
            break
    return start, found


# --- each changes the data --------------------------------------------------------------------------------------------


def _moved(draw: Draw, data: Data) -> None:
    body = _one(draw, data)
    axis = draw(st.integers(0, len(body["position"]) - 1))
    body["position"][axis] += draw(st.sampled_from(NUDGES)) / GRID


def _heavier(draw: Draw, data: Data) -> None:
    body, factor = _one(draw, data), draw(st.sampled_from(FACTORS))
    if body["mass"]:
        body["mass"] *= factor
        _scale_inertia(body, factor)


def _larger(draw: Draw, data: Data) -> None:
    """By the same factor in all directions."""
    body, factor = _one(draw, data), draw(st.sampled_from(FACTORS))
    pieces = body["shape"].get("pieces", ())
    for part in (body["shape"], *pieces, *(piece["shape"] for piece in pieces)):
        for name in (*LENGTHS, *(("position",) if part in pieces else ())):
            if name in part:
                part[name] = (factor * np.array(part[name])).tolist()
    _scale_inertia(body, factor * factor)


def _faster(draw: Draw, data: Data) -> None:
    body, field = _one(draw, data), draw(st.sampled_from(("velocity", "spin")))
    if not body["fixed"]:
        speed = draw(st.sampled_from((1.0, -1.0, *FAST)))
        if isinstance(body[field], list):
            body[field][draw(st.integers(0, len(body[field]) - 1))] += speed
        else:
            body[field] += speed


def _rougher(draw: Draw, data: Data) -> None:
    """Friction or restitution of everything that has some."""
    field, factor = draw(st.sampled_from(("friction", "restitution"))), draw(st.sampled_from((0.0, 0.5, 2.0)))
    for member in (*data["bodies"], *data["boundaries"]):
        member[field] = min(1.0, factor * member[field])


def _leaning(draw: Draw, data: Data) -> None:
    """Gravity, and nothing else."""
    angle, g = draw(st.sampled_from(LEANS)), data["gravity"]
    c, s = float(elementary.cos(angle)), float(elementary.sin(angle))
    g[0], g[-1] = c * g[0] - s * g[-1], s * g[0] + c * g[-1]


def _without_one(draw: Draw, data: Data) -> None:
    """Nor what ties it to others."""
    name = _one(draw, data)["name"]
    data["bodies"] = [one for one in data["bodies"] if one["name"] != name]
    for tie in ("joints", "springs"):
        data[tie] = [one for one in data[tie] if name not in (one["a"], one.get("b"))]
    data["contact"]["pairs"] = [one for one in data["contact"]["pairs"] if name not in (one["a"], one["b"])]


def _doubled(draw: Draw, data: Data) -> None:
    """The other one is beside it or above it, by what is drawn."""
    body = _one(draw, data)
    position = list(body["position"])
    position[draw(st.sampled_from((-1, 0)))] += draw(st.sampled_from((1.0, 0.5, 2.0, 0.125)))
    data["bodies"].append(body | {"name": f"{body['name'][:70]} again", "position": position})


MUTATIONS: tuple[Mutation, ...] = (
    _moved, _heavier, _faster, _rougher, _leaning, _without_one, _larger, _doubled
)  # fmt: skip


def _one(draw: Draw, data: Data) -> Data:
    body: Data = data["bodies"][draw(st.integers(0, len(data["bodies"]) - 1))]
    return body


def _scale_inertia(body: Data, factor: float) -> None:
    if body["inertia"]:
        body["inertia"] = (factor * np.array(body["inertia"])).tolist()
