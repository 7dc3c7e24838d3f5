"""A model that an engine has loaded, as a scene that stands alone: its description, and what acts along joints.

The description is the scene's bodies, shapes, joints, friction; here what the model says beside it is put into the
scene as far as scenes have it, and all else is named.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scenarios.scene import PlanarScene, Scene, SpatialScene, parse_scene, write_scene
from validation.engines.shared.description import inertia_box, listed

SPECK = 1e-3  # m, radius of the ball that stands for a body that collides with nothing
Data = dict[str, Any]
Pairs = set[frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A scene of ours, and what of the model it does not have, each by name."""

    scene: Scene
    lost: tuple[str, ...]


@dataclass(slots=True)
class Beside:
    """What a model says beside its description."""

    along: dict[str, Data] = field(default_factory=dict)  # by joint: fields of a hinge or slider
    joints: list[Data] = field(default_factory=list)  # that the description does not have
    springs: list[Data] = field(default_factory=list)
    bodies: dict[str, Data] = field(default_factory=dict)  # by body: fields that are not as described
    lost: dict[str, None] = field(default_factory=dict)

    def lose(self, what: str, names: Iterable[str]) -> None:
        """Named where there are any."""
        given = list(dict.fromkeys(names))
        if given:
            self.lost[f"{what}: {listed(given)}"] = None


def stands_alone(described: Scene, beside: Beside, unmeasured: Iterable[str] = ()) -> Imported:
    """Raises SceneError where what the model says makes no scene. `unmeasured`: lines of the description that hold of
    the scene, too."""
    assert isinstance(described, PlanarScene | SpatialScene) and described.native is not None
    data: Data = json.loads(write_scene(described, indent=None))
    del data["native"]
    members = [*described.bodies, *described.boundaries]
    pairs = described.native.pairs([bool(getattr(one, "fixed", True)) for one in members])
    collide = {frozenset((members[a].name, members[b].name)) for a, b in pairs}
    data["bodies"] = [body | beside.bodies.get(body["name"], {}) for body in data["bodies"]]
    for joint in data["joints"]:
        joint |= _within(joint["name"], beside.along.get(joint["name"], {}), beside)
    data["joints"] += beside.joints
    data["springs"] = beside.springs
    _without_what_only_stands(data, collide, beside)
    _without_collisions(data, collide, beside)
    for line in unmeasured:
        beside.lost[line] = None
    return Imported(scene=parse_scene(data, where="the imported scene"), lost=tuple(beside.lost))


def _within(name: str, along: Data, beside: Beside) -> Data:
    """Limits that take in the start, which a scene asks of them."""
    limits, start = along.get("limits"), along.get("start", 0.0)
    if limits is None:
        return along
    low, high = min(limits["low"], start), max(limits["high"], start)
    if (low, high) != (limits["low"], limits["high"]):
        beside.lost[
            f"limits of joint {name}: {limits['low']:.4g} to {limits['high']:.4g}, and it starts at {start:.4g}; "
            "widened to where it starts"
        ] = None
    return along | {"limits": {"low": low, "high": high}}


def _without_what_only_stands(data: Data, collide: Pairs, beside: Beside) -> None:
    """Fixed bodies that nothing meets are left out: joints to them are to the world."""
    met = {name for pair in collide for name in pair}
    tied = {one.get("b") for one in (*data["joints"], *data["springs"])}
    out = [body["name"] for body in data["bodies"] if body.get("fixed") and body["name"] not in met | tied]
    beside.lose("fixed bodies that nothing meets", out)
    data["bodies"] = [body for body in data["bodies"] if body["name"] not in out]


def _without_collisions(data: Data, collide: Pairs, beside: Beside) -> None:
    """Groups of the bodies that pass through one another, as far as groups can say it."""
    bodies: dict[str, Data] = {body["name"]: body for body in data["bodies"]}
    joined = {frozenset((j["a"], j["b"])) for j in data["joints"] if j.get("b") is not None}
    free = {name for name, body in bodies.items() if not body.get("fixed")}
    pairs = [frozenset(pair) for pair in itertools.combinations(bodies, 2) if free & set(pair)]
    groups = _connected(bodies, [pair for pair in pairs if pair not in collide and pair not in joined])
    for number, names in enumerate((group for group in groups if len(group) > 1), start=1):
        for name in names:
            bodies[name]["group"] = number
        within = {frozenset(pair) for pair in itertools.combinations(names, 2)}
        lost = sorted(" and ".join(sorted(pair)) for pair in within & collide)
        beside.lose("contact of two that collide in the model, and are in one group here", lost)
    for joint in data["joints"]:
        if joint.get("b") is not None:
            group = {bodies[joint[end]].get("group", 0) for end in ("a", "b")}
            together = len(group) == 1 and group != {0}
            joint["collide"] = frozenset((joint["a"], joint["b"])) in collide and not together
    alone = [name for name in free if not any(name in pair for pair in collide)]
    _without_shapes(data, sorted(alone, key=list(bodies).index), beside)
    walls = [wall["name"] for wall in data["boundaries"]]
    through = [frozenset((name, wall)) for name in bodies for wall in walls if name in free and name not in alone]
    lost = [" and ".join(sorted(pair)) for pair in through if pair not in collide]
    beside.lose("that two pass through one another, which collide here", lost)


def _connected(names: Iterable[str], pairs: Iterable[frozenset[str]]) -> list[list[str]]:
    root = {name: name for name in names}
    for pair in pairs:
        a, b = (root[name] for name in sorted(pair))
        root = {name: a if one == b else one for name, one in root.items()}
    groups: dict[str, list[str]] = {}
    for name, one in root.items():
        groups.setdefault(one, []).append(name)
    return list(groups.values())


def _without_shapes(data: Data, alone: list[str], beside: Beside) -> None:
    """What collides with nothing: with the box of its inertia where it is in one group with all that there is, else so
    small that it hardly meets anything."""
    groups = [body.get("group", 0) for body in data["bodies"]]
    one_group = not data["boundaries"] and (len(groups) == 1 or (len(set(groups)) == 1 and groups[0] > 0))
    for body in data["bodies"]:
        if body["name"] not in alone:
            continue
        if not one_group:
            body["shape"] = {"kind": "disc" if data["dimension"] == 2 else "sphere", "radius": SPECK}
        elif data["dimension"] == 3:
            body["shape"] = inertia_box(body["mass"], np.array(body["inertia"]))
    what = "the box of its inertia" if one_group else "a ball of 1 mm"
    beside.lose(f"shapes of what collides with nothing, which is {what} here", alone)
