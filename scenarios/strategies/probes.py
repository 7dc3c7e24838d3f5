"""Which scenes an engine is asked about before any is drawn for it, and what is drawn of those that it takes.

A probe is the simplest scene with one feature. What its rules decline that no single feature shows is found by a few
scenes of each arrangement.
"""

from collections.abc import Collection, Mapping
from itertools import combinations
from typing import Any

from hypothesis import strategies as st

from scenarios.catalogue.shared.bodies import Space, rectangle
from scenarios.scene import Disc, PlanarScene, Scene, SpatialScene
from scenarios.strategies import branched, mechanisms, on_bodies, stacks
from scenarios.strategies.allowed import Allowed
from scenarios.strategies.planar import planar_scenes
from scenarios.strategies.spatial import EXAMPLES, SHAPES, spatial_scenes

COEFFICIENT = 0.5  # of friction or restitution, of a probe
PLANAR_SHAPES = {"polygon": rectangle(1.0, 1.0), "disc": Disc(radius=0.5)}
BALL: Mapping[Space, str] = {"planar": "disc", "spatial": "sphere"}
WALLS: Mapping[Space, tuple[str, str]] = {"planar": ("half-plane", "bowl"), "spatial": ("half-space", "hollow-sphere")}
STANDING, DEEP = ("tower", "heap", "row", "pyramid", "poised"), ("deep start",)
"""Arrangements on level ground, which may also be a body."""
COEFFICIENTS = ("friction", "restitution")
JOINTS: Mapping[Space, tuple[str, ...]] = {
    "planar": ("revolute", "rod", "rope", "prismatic"),
    "spatial": ("hinge", "ball", "slider", "rod", "rope", "fixed"),
}
ALONG: Mapping[str, Any] = {
    "spring": {"stiffness": 1.0},
    "damping": 1.0,
    "friction": 1.0,
    "limits": {"low": -1.0, "high": 1.0},
    "motor": {"kind": "force-motor", "target": ((0.0, 1.0),)},
}
"""By the field of a hinge or slider in space."""


def _probe(space: Space, shape: Any, boundary: str, law: str = "") -> Scene:
    """One body above the ground, or in the middle of a container."""
    surface = {law: COEFFICIENT} if law else {}
    up = 0.0 if boundary in ("bowl", "hollow-sphere") else 2.0
    wall: dict[str, Any] = {"kind": boundary, "name": "boundary"} | ({} if up else {"radius": 4.0})
    at = (0.0, up) if space == "planar" else (0.0, 0.0, up)
    body = {"name": "body", "shape": shape, "mass": 1.0, "position": at}
    kind = PlanarScene if space == "planar" else SpatialScene
    return kind.model_validate({"duration": 1.0, "bodies": [body | surface], "boundaries": [wall | surface]})


def _jointed(space: Space, kind: str, shape: Any, along: Mapping[str, Any] | None = None) -> Scene:
    """Two bodies of one group, one tied to the world, the other to it."""
    origin = (0.0, 0.0) if space == "planar" else (0.0, 0.0, 0.0)
    more: dict[str, Any] = {"axis": (1.0, *origin[1:])} if kind in ("prismatic", "slider", "hinge") else {}
    more |= {"length": 1.0} if kind in ("rod", "rope") else {}
    more |= along or {}
    at = origin if "length" in more else (*origin[:-1], 1.0)
    bodies = [
        {"name": f"body {i}", "shape": shape, "mass": 1.0, "position": (*origin[:-1], -float(i)), "group": 1}
        for i in (1, 2)
    ]
    joint = {"kind": kind, "anchor_a": at, "anchor_b": origin} | more
    joints = [
        joint | {"name": "joint 1", "a": "body 1"},
        joint | {"name": "joint 2", "a": "body 2", "b": "body 1"},
    ]
    kinds = PlanarScene if space == "planar" else SpatialScene
    return kinds.model_validate({"duration": 1.0, "bodies": bodies, "joints": joints})


def _on_fixed(space: Space, shape: Any, **more: Any) -> Scene:
    """A body above a fixed one."""
    origin = (0.0, 0.0) if space == "planar" else (0.0, 0.0, 0.0)
    fixed = {"name": "base", "shape": shape, "fixed": True, "position": origin} | more
    free = {"name": "body", "shape": shape, "mass": 1.0, "position": (*origin[:-1], 2.0)}
    kind = PlanarScene if space == "planar" else SpatialScene
    return kind.model_validate({"duration": 1.0, "bodies": [fixed, free]})


def _swinging(space: Space) -> dict[str, Any]:
    """A motion that has all that a given one may have."""
    along = (1.0, 0.0) if space == "planar" else (1.0, 0.0, 0.0)
    swings = {"velocity": along, "acceleration": along, "amplitude": along, "frequency": 1.0, "phase": 1.0}
    turns = 1.0 if space == "planar" else along
    return swings | {"knots": ((0.5, *along),), "spin": turns}


def probes() -> dict[str, Scene]:
    """Feature -> scene; features are `space shape`, `space boundary`, `space joint`, `space law`, `space base` (what is
    fixed), `space moved` (by a given motion), `space margins` and `spatial along FIELD`."""
    found: dict[str, Scene] = {}
    shapes: dict[Space, Mapping[str, Any]] = {"planar": PLANAR_SHAPES, "spatial": EXAMPLES}
    for space, kinds in shapes.items():
        ground, container = WALLS[space]
        ball = kinds[BALL[space]]
        found |= {f"{space} {kind}": _probe(space, shape, ground) for kind, shape in kinds.items()}
        found |= {
            f"{space} {ground}": _probe(space, ball, ground),
            f"{space} {container}": _probe(space, ball, container),
        }
        found |= {f"{space} {kind}": _jointed(space, kind, ball) for kind in JOINTS[space]}
        found |= {f"{space} {law}": _probe(space, ball, ground, law) for law in COEFFICIENTS}
        found[f"{space} base"] = _on_fixed(space, ball)
        found[f"{space} margins"] = _probe(space, ball, ground, "margin")
        found[f"{space} moved"] = _on_fixed(space, ball, motion=_swinging(space))
    sphere = EXAMPLES["sphere"]
    found |= {f"spatial along {name}": _jointed("spatial", "hinge", sphere, {name: of}) for name, of in ALONG.items()}
    return found


def allowed_by(taken: Collection[str], space: Space) -> Allowed:
    """What scenes of that space may have for an engine that takes these features."""
    own = {feature.partition(" ")[2] for feature in taken if feature.startswith(f"{space} ")}
    shapes = own & {*PLANAR_SHAPES, *SHAPES}
    return Allowed(
        space=space,
        shapes=frozenset(shapes),
        boundaries=frozenset(own & {*WALLS[space]}),
        joints=frozenset(own & {*JOINTS[space]}),
        friction="friction" in own,
        restitution="restitution" in own,
        along=frozenset(name for name in ALONG if f"along {name}" in own),
        fixed="base" in own,
        moved="moved" in own,
        margins="margins" in own,
    )


def swarm(kinds: Collection[str]) -> list[tuple[str, ...]]:
    """What a scene is made of: of all kinds, in half of the scenes of one or two. Where any kind may be in a scene, two
    given ones seldom meet (swarm testing: Groce et al. 2012)."""
    own = [kind for kind in SHAPES if kind in kinds]
    few = [*((kind,) for kind in own), *combinations(own, 2)]
    return [tuple(own)] * len(few) + few


def arrangements(allowed: Allowed) -> dict[str, st.SearchStrategy[Scene]]:
    """By name, all that can be drawn of what is allowed; empty where nothing can."""
    found: dict[str, st.SearchStrategy[Scene]] = {}
    laws = {"friction": allowed.friction, "restitution": allowed.restitution}
    if allowed.space == "planar" and allowed.shapes >= {*PLANAR_SHAPES} and "half-plane" in allowed.boundaries:
        found |= {"heap": planar_scenes(**laws), "deep start": planar_scenes(overlapped=True, **laws)}
    if allowed.space == "spatial" and allowed.shapes and "half-space" in allowed.boundaries:
        for name, overlapped in (("heap", False), ("deep start", True)):
            some = [spatial_scenes(kinds=kinds, overlapped=overlapped, **laws) for kinds in swarm(allowed.shapes)]
            found[name] = st.sampled_from(some).flatmap(lambda scenes: scenes)
    found |= stacks.arrangements(allowed)
    standing, deep = ([found[name] for name in names if name in found] for names in (STANDING, DEEP))
    found |= on_bodies.arrangements(allowed, standing, deep)
    return found | mechanisms.arrangements(allowed) | branched.arrangements(allowed)
