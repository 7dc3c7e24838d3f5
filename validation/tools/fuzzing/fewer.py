"""Scenes with fewer bodies that are changed otherwise, too.

Without a body the others often break the law as well, but later, or only where they are a little heavier or faster. So
what is left has more time; it comes down onto what is below; or it is changed at random.

A scene is the dictionary that its JSON has. Positions and velocities are of the world, SI.
"""

from collections.abc import Collection, Iterator
from random import Random
from typing import Any

import numpy as np

from reference_engine.array_types import Array
from reference_engine.dense import mul, norm
from scenarios.scene import Scene, parse_scene
from scenarios.scene_error import SceneError
from validation.tools.fuzzing.oracles import depth_at_start
from validation.tools.fuzzing.tied import tied_to, without_a_link

Data = dict[str, Any]
TIES = ("joints", "springs", "thrusters")
FEW = 4  # bodies: with more of them chance is asked, too
VARIED = 60  # times
LONGER, LONGEST = 4.0, 2.0  # times as long, at most so many seconds
MASSES = (0.03, 0.1, 0.3, 3.0, 10.0)  # times as heavy
SPEEDS = (0.5, 2.0, 3.0)  # times as fast
LOWER = 1e-4  # of the way that is free: what is nearer to what is below it stays where it is
HALVINGS = 24


def of_bodies(data: Data, names: Collection[str | None]) -> Data:
    """These alone, with what ties them to one another or to the world."""
    other = data | {"bodies": [one for one in data["bodies"] if one["name"] in names]}
    for tie in TIES:
        if tie in data:
            tied = ({one.get("a"), one.get("b"), one.get("body")} - {None} for one in data[tie])
            other[tie] = [one for one, named in zip(data[tie], tied) if named <= set(names)]
    return other


def scene_of(data: Data) -> Scene | None:
    """None where it is none."""
    try:
        return parse_scene(data)
    except SceneError:
        return None


# --- more time --------------------------------------------------------------------------------------------------------


def without_one_but_longer(data: Data) -> Iterator[Data]:
    """A body, or a link."""
    if data["duration"] < LONGEST:
        names = [body["name"] for body in data["bodies"]]
        for one in reversed(names):
            yield _longer(of_bodies(data, [name for name in names if name != one]))
        yield from map(_longer, without_a_link(data))


def _longer(data: Data) -> Data:
    return data | {"duration": max(data["duration"], min(LONGEST, LONGER * data["duration"]))}


# --- down onto what is below ------------------------------------------------------------------------------------------


def without_one_but_settled(data: Data) -> Iterator[Data]:
    """What it bore is lowered until it is in contact with something."""
    names = [body["name"] for body in data["bodies"]]
    if not any(data["gravity"]):
        return
    down = np.array(data["gravity"]) / norm(np.array(data["gravity"]))
    far = 2.0 * float(np.ptp(mul(np.array([body["position"] for body in data["bodies"]]), down)))
    for one in names:
        fewer = of_bodies(data, [name for name in names if name != one])
        settled = _settled(fewer, far * down)
        if settled is not fewer:
            yield settled


def _settled(data: Data, whole: Array) -> Data:
    """Bodies that are tied to one another together, the lowest first, at most by the whole way, m; nothing moves that
    is fixed or tied to the world. The same dictionary where nothing does."""
    scene = scene_of(data)
    if scene is None or not whole.any():
        return data
    depth = depth_at_start(scene)
    rest = sorted(data["bodies"], key=lambda body: -float(mul(np.array(body["position"]), whole)))
    while rest:
        group = tied_to(rest[0]["name"], data.get("joints", []))
        moved = [body for body in rest if body["name"] in group]
        rest = [body for body in rest if body["name"] not in group]
        if None not in group and not any(body["fixed"] for body in moved):
            data = _lowered(data, group, whole, depth)
    return data


def _lowered(data: Data, group: Collection[str | None], whole: Array, depth: float) -> Data:
    """By the part of the whole way, m, after which it is in contact."""

    def at(share: float) -> Data:
        bodies = [
            one | {"position": (np.array(one["position"]) + share * whole).tolist()} if one["name"] in group else one
            for one in data["bodies"]
        ]
        return data | {"bodies": bodies}

    def is_free(share: float) -> bool:
        scene = scene_of(at(share))
        return scene is not None and depth_at_start(scene) <= depth

    low, high = LOWER, 1.0
    if not is_free(low) or is_free(high):  # it stands, or there is nothing below
        return data
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_free(middle) else (low, middle)
    return at(low)


# --- by chance --------------------------------------------------------------------------------------------------------


def varied(data: Data) -> Iterator[Data]:
    """At most VARIED times a part of the bodies, mostly with more time, and one of them heavier or lighter, or all
    faster or slower. The scene decides which."""
    names = [body["name"] for body in data["bodies"]]
    if len(names) <= FEW:
        return
    random = Random(repr(data))
    for _ in range(VARIED):
        some = random.sample(names, random.randint(2, len(names) - 1))
        fewer = of_bodies(data, some)
        if random.random() < 0.7:
            fewer = _longer(fewer)
        yield random.choice((_heavier, _faster, _alike))(fewer, random)


def _alike(data: Data, random: Random) -> Data:
    return data


def _heavier(data: Data, random: Random) -> Data:
    one, factor = random.choice(data["bodies"])["name"], random.choice(MASSES)
    bodies = [
        body | {"mass": factor * body["mass"]} if body["name"] == one and body["mass"] and not body["inertia"] else body
        for body in data["bodies"]
    ]
    return data | {"bodies": bodies}


def _faster(data: Data, random: Random) -> Data:
    factor = random.choice(SPEEDS)
    parts = ("velocity", "spin")
    bodies = [body | {part: (factor * np.array(body[part])).tolist() for part in parts} for body in data["bodies"]]
    return data | {"bodies": bodies}
