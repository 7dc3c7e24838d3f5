"""Simpler scenes than one that breaks a law, the largest simplifications first.

A scene is simplified as data: without a body, a joint, a boundary; at rest; upright; of unit mass; in round numbers.
The shrinking of hypothesis works on what was drawn: without a body those above it come down, which is another scene;
and it can do nothing for a scene that was not drawn. What is no scene, or where bodies start deeper in one another or
joints further from being met than they did, is left out.
"""

import json
import math
from collections.abc import Callable, Collection, Iterator
from itertools import chain, combinations, pairwise
from typing import Any

import numpy as np

from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.scene import Scene, content_hash, write_scene
from scenarios.strategies import ORIENTATIONS
from validation.metrics.equilibrium import at_start
from validation.metrics.joint_gap import joint_gap
from validation.tools.fuzzing.fewer import (
    TIES,
    of_bodies,
    scene_of,
    varied,
    without_one_but_longer,
    without_one_but_settled,
)
from validation.tools.fuzzing.oracles import SAME_DEPTH, depth_at_start
from validation.tools.fuzzing.tied import parting_speed, tied_to, way, without_a_link

Data = dict[str, Any]
Change = Callable[[Data], Iterator[Data]]
Simplification = Callable[[Data, Collection[str]], Iterator[Data]]
SAME_GAP, SAME_SPEED = 1e-9, 1e-9  # m and m/s, of joints
DURATIONS = (0.25, 0.5, 1.0)  # s: long enough to be seen
DIGITS = (0, 1, 2)  # behind the point: positions, m
COEFFICIENTS = ("friction", "restitution")
LENGTHS = ("radius", "length", "size", "semi_axes")  # of shapes


def simplified(scene: Scene, simplify: Simplification, about: Collection[str] = ()) -> Iterator[Scene]:
    """Each in one way simpler than the scene, in the order in which they should be tried.

    `simplify`: one of SIMPLIFICATIONS; `about`: names of the bodies of which a law is broken, if it is one of some.
    """
    start: Data = json.loads(write_scene(scene, indent=None))
    depth, seen = depth_at_start(scene), {content_hash(scene)}
    gap, speed = gap_at_start(scene), parting_speed(start)
    for data in simplify(start, about):
        found = scene_of(data)
        if found is None or content_hash(found) in seen:
            continue
        seen.add(content_hash(found))
        is_met = gap_at_start(found) <= gap + SAME_GAP and parting_speed(data) <= speed + SAME_SPEED
        if is_met and depth_at_start(found) <= depth + SAME_DEPTH:
            yield found


def gap_at_start(scene: Scene) -> float:
    """m: how far the worst joint starts from being met."""
    return joint_gap(at_start(scenario_from_scene("fuzzed", scene))) or 0.0


def _with_body(data: Data, i: int, **fields: Any) -> Data:
    bodies = [one | fields if k == i else one for k, one in enumerate(data["bodies"])]
    return data | {"bodies": bodies}


# --- less of it -----------------------------------------------------------------------------------------------------


def _with_few(data: Data, about: Collection[str]) -> Iterator[Data]:
    """Only the bodies that it is about, and what ties them to one another; only those that are tied to one; then, as
    delta debugging has it, only a part, without a part, the parts smaller and smaller (Zeller & Hildebrandt 2002)."""
    names, joints = [body["name"] for body in data["bodies"]], data.get("joints", [])
    asked = [name for name in names if name in about]
    if asked:
        yield of_bodies(data, asked)
        yield of_bodies(data, {*asked, *chain(*(way(joints, a, b) for a, b in combinations(asked, 2)))})
    for name in names:
        yield of_bodies(data, tied_to(name, joints))
    parts = 2
    while parts < len(names):
        edges = [round(k * len(names) / parts) for k in range(parts + 1)]
        some = [names[first:last] for first, last in pairwise(edges)]
        for part in some:
            yield of_bodies(data, part)
        for part in reversed(some):
            yield of_bodies(data, [name for name in names if name not in part])
        parts *= 2


def _without_a_body(data: Data) -> Iterator[Data]:
    """Nor what ties it to others."""
    names = [body["name"] for body in data["bodies"]]
    for one in reversed(names):
        yield of_bodies(data, [name for name in names if name != one])


def _without_two(data: Data) -> Iterator[Data]:
    """Where each alone is needed to balance the other."""
    names = [body["name"] for body in data["bodies"]]
    for two in combinations(reversed(names), 2):
        yield of_bodies(data, [name for name in names if name not in two])


def _without_one(what: str) -> Change:
    def without(data: Data) -> Iterator[Data]:
        for i in reversed(range(len(data.get(what, ())))):
            yield data | {what: [*data[what][:i], *data[what][i + 1 :]]}

    return without


def _with_one_fixed(data: Data) -> Iterator[Data]:
    """In place of one that moves."""
    for i, body in enumerate(data["bodies"]):
        if not body["fixed"]:
            still = {part: _like(body[part], 0.0 * np.atleast_1d(body[part])) for part in ("velocity", "spin")}
            yield _with_body(data, i, fixed=True, mass=None, inertia=None, **still)


def _shorter(data: Data) -> Iterator[Data]:
    for duration in DURATIONS:
        if duration < data["duration"]:
            yield data | {"duration": duration}


# --- rounder numbers --------------------------------------------------------------------------------------------------


def _all_at_rest(data: Data) -> Iterator[Data]:
    """What joints tie cannot stop one by one."""
    yield data | {
        "bodies": [
            one | {field: _like(one[field], 0.0 * np.atleast_1d(one[field])) for field in ("velocity", "spin")}
            for one in data["bodies"]
        ]
    }


def _at_rest(field: str) -> Change:
    """One body without this velocity, then without one of its components."""

    def simplified(data: Data) -> Iterator[Data]:
        for i, body in enumerate(data["bodies"]):
            parts = np.atleast_1d(body.get(field, 0.0))
            if parts.any():
                yield _with_body(data, i, **{field: _like(body[field], 0.0 * parts)})
        for i, body in enumerate(data["bodies"]):
            parts = np.atleast_1d(body.get(field, 0.0))
            for k in np.flatnonzero(parts) if np.count_nonzero(parts) > 1 else ():
                yield _with_body(data, i, **{field: np.where(np.arange(len(parts)) == k, 0.0, parts).tolist()})

    return simplified


def _turned_simply(data: Data) -> Iterator[Data]:
    """Upright, lying, on an edge; one that is so already is left alone."""
    for i, body in enumerate(data["bodies"]):
        if "angle" in body:
            yield _with_body(data, i, angle=0.0)
        elif (now := tuple(body["orientation"])) not in ORIENTATIONS:
            for q in ORIENTATIONS:
                yield _with_body(data, i, orientation=list(q))
        elif now != ORIENTATIONS[0]:
            yield _with_body(data, i, orientation=list(ORIENTATIONS[0]))


def _without_coefficient(data: Data) -> Iterator[Data]:
    """Without friction, or restitution, anywhere."""
    for name in COEFFICIENTS:
        without = {what: [one | {name: 0.0} for one in data.get(what, ())] for what in ("bodies", "boundaries")}
        yield data | without


def _unit_mass(data: Data) -> Iterator[Data]:
    for i, body in enumerate(data["bodies"]):
        if body.get("mass") and not body.get("inertia"):
            yield _with_body(data, i, mass=1.0)


def _rounded(field: str) -> Change:
    """Of one body, in fewer digits."""

    def simplified(data: Data) -> Iterator[Data]:
        for i, body in enumerate(data["bodies"]):
            for digits in DIGITS:
                parts = np.round(np.atleast_1d(body.get(field, 0.0)), digits)
                if field in body:
                    yield _with_body(data, i, **{field: _like(body[field], parts)})

    return simplified


def _round_shape(data: Data) -> Iterator[Data]:
    """Lengths of one digit, or two."""
    for i, body in enumerate(data["bodies"]):
        for digits in (1, 2):
            shape = {
                field: _like(value, [_significant(length, digits) for length in np.atleast_1d(value)])
                for field, value in body["shape"].items()
                if field in LENGTHS
            }
            yield _with_body(data, i, shape=body["shape"] | shape)


def _like(value: Any, parts: Any) -> Any:
    """A number where the value is one."""
    found = [float(part) + 0.0 for part in parts]  # no -0
    return found if isinstance(value, list) else found[0]


def _significant(number: float, digits: int) -> float:
    return round(number, digits - 1 - math.floor(math.log10(number)))


def _of_all(change: Change) -> Simplification:
    """Whatever the law is broken of."""
    return lambda data, about: change(data)


CHANGES: tuple[Change, ...] = (
    *(_without_a_body, without_a_link, without_one_but_longer, varied),
    *(_without_one(what) for what in (*TIES, "boundaries")),
    *(_without_two, without_one_but_settled),
    *(_shorter, _with_one_fixed, _all_at_rest),
    *(_at_rest(field) for field in ("velocity", "spin")),
    *(_turned_simply, _without_coefficient, _unit_mass),
    *(_rounded(field) for field in ("velocity", "spin", "position", "angle")),
    _round_shape,
)
SIMPLIFICATIONS: tuple[Simplification, ...] = (_with_few, *map(_of_all, CHANGES))
"""The largest first."""
