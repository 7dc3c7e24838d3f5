"""Joints of a scene as data: how fast they start to part, and the scene without a link of a chain.

A scene is the dictionary that its JSON has. Positions and velocities are of the world, SI.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from reference_engine import elementary
from reference_engine.array_types import Array
from reference_engine.dense import cross, mul, norm
from reference_engine.rotation import matrices

Data = dict[str, Any]
PINS = ("revolute", "hinge", "ball")
"""Joints whose anchors coincide."""


class End(NamedTuple):
    """Of a joint at a body, or at the world."""

    name: str | None
    anchor: list[float]  # in the frame of the body
    position: Array
    velocity: Array


def parting_speed(data: Data) -> float:
    """m/s, at which the anchors of the worst pin part at the start."""
    pairs = (ends(data, joint) for joint in data.get("joints", ()) if joint["kind"] in PINS)
    return max((float(norm(b.velocity - a.velocity)) for a, b in pairs), default=0.0)


def ends(data: Data, joint: Data) -> tuple[End, End]:
    return _end(data, joint["a"], joint["anchor_a"]), _end(data, joint.get("b"), joint["anchor_b"])


def tied_to(name: str | None, joints: list[Data]) -> set[str | None]:
    """Bodies that are tied to this one, through others, too; None: the world."""
    found = {name}
    while (
        more := {
            end for joint in joints for end in (joint["a"], joint.get("b")) if found & {joint["a"], joint.get("b")}
        }
        - found
    ):
        found |= more
        if None in found:
            break
    return found


def way(joints: list[Data], a: str, b: str) -> list[str]:
    """Bodies by which one is tied to another, from one joint to the next, the fewest; [] where it is not."""
    ways = {a: [a]}
    while b not in ways:
        found: dict[str, list[str]] = {}
        for joint in joints:
            for one, other in ((joint["a"], joint.get("b")), (joint.get("b"), joint["a"])):
                if one in ways and other is not None and other not in ways:
                    found.setdefault(other, [*ways[one], other])
        if not found:
            return []
        ways |= found
    return ways[b]


def without_a_link(data: Data) -> Iterator[Data]:
    """Without one body between two pins: what hung on it is moved, as it is, to where the body hung; or between two
    rods."""
    joints = data.get("joints", ())
    for body in reversed(data["bodies"]):
        own = [joint for joint in joints if body["name"] in (joint["a"], joint.get("b"))]
        if len(own) == 2 and all(joint["kind"] in PINS for joint in own):
            for upper, lower in (own, own[::-1]):
                if (shorter := _shorter(data, body["name"], upper, lower)) is not None:
                    yield shorter
        rods = len(own) == 2 and all(joint["kind"] == "rod" for joint in own)
        if rods and (shorter := _spanned(data, body["name"], *own)) is not None:
            yield shorter


def _spanned(data: Data, link: str, one: Data, other: Data) -> Data | None:
    """One rod in place of two and the body between them, which leaves all others where they are."""
    first, second = (next(end for end in ends(data, rod) if end.name != link) for rod in (one, other))
    if first.name is None:
        first, second = second, first
    length = float(norm(second.position - first.position))
    if first.name is None or not length:
        return None
    rest = [joint for joint in data["joints"] if joint["name"] not in (one["name"], other["name"])]
    rod = one | {"a": first.name, "b": second.name, "anchor_a": first.anchor, "anchor_b": second.anchor}
    return data | {
        "bodies": [body for body in data["bodies"] if body["name"] != link],
        "joints": [*rest, rod | {"length": length}],
    }


def _shorter(data: Data, link: str, upper: Data, lower: Data) -> Data | None:
    """None where nothing hangs on the link, or what does is also tied to what is above, or to the world."""
    above, below = (next(end for end in ends(data, joint) if end.name != link) for joint in (upper, lower))
    rest = [joint for joint in data["joints"] if joint["name"] not in (upper["name"], lower["name"])]
    moved = tied_to(below.name, rest)
    if below.name is None or above.name in moved or None in moved:
        return None
    shift = above.position - below.position
    bodies = [
        one | {"position": (np.array(one["position"]) + shift).tolist()} if one["name"] in moved else one
        for one in data["bodies"]
        if one["name"] != link
    ]
    first, second = (above, below) if above.name is not None else (below, above)
    joint = lower | {"a": first.name, "b": second.name, "anchor_a": first.anchor, "anchor_b": second.anchor}
    if "axis" in joint:
        axis = mul(_turn(_body(data, lower["a"])), np.array(lower["axis"]))
        joint["axis"] = mul(_turn(_body(data, first.name)).T, axis).tolist()
    return data | {"bodies": bodies, "joints": [*rest, joint]}


def _body(data: Data, name: str | None) -> Data:
    return next(one for one in data["bodies"] if one["name"] == name)


def _end(data: Data, name: str | None, anchor: list[float]) -> End:
    local = np.array(anchor)
    if name is None:
        return End(None, anchor, local, np.zeros(len(local)))
    body = _body(data, name)
    arm, spin = mul(_turn(body), local), body.get("spin", 0.0)
    turning = spin * np.array((-arm[1], arm[0])) if len(local) == 2 else cross(np.array(spin), arm)
    velocity = np.array(body.get("velocity", 0.0 * local)) + turning
    return End(name, anchor, np.array(body["position"]) + arm, velocity)


def _turn(body: Data) -> Array:
    """(D, D): from the body's frame to the world's."""
    if "angle" in body:
        c, s = elementary.cos(body["angle"]), elementary.sin(body["angle"])
        return np.array(((c, -s), (s, c)))
    return matrices(np.array(body["orientation"]))
