"""A pymunk.Space as a scene: pins and rods of its description, ropes and springs beside them, and what is lost."""

from __future__ import annotations

import math
from typing import Any

import pymunk

from scenarios.native import Model
from validation.engines.pymunk.native import Described
from validation.engines.shared.importing import Beside, Data, Imported, stands_alone


def imported(given: Model, duration: float, title: str) -> Imported:
    """Raises ModelError, SceneError."""
    found = Described(given, duration, title)
    native = found.scene.native
    assert native is not None
    beside, lost = Beside(), dict.fromkeys(native.unmeasured)
    names = [body.name for body in found.scene.bodies]
    for k, one in enumerate(found.space.constraints):
        title = f"{type(one).__name__} {k}"
        ends = _ends(one, found, names)
        if ends is None:
            continue
        if isinstance(one, pymunk.DampedSpring):
            pulls = {"stiffness": float(one.stiffness), "rest_length": float(one.rest_length)}
            beside.springs.append({**ends, **pulls, "damping": float(one.damping)})
        elif isinstance(one, pymunk.SlideJoint) and one.min == 0.0:
            beside.joints.append({**ends, "kind": "rope", "name": title, "length": float(one.max)})
        else:
            continue
        lost = {line: None for line in lost if not line.startswith(f"{title}:")}
    weak = [f"{type(one).__name__} {k}" for k, one in enumerate(found.space.constraints) if one.max_force < math.inf]
    beside.lose("the most force of constraints", weak)
    whole = [line.replace("its gaps are not measured", "it has no shape here") for line in lost]
    return stands_alone(found.scene, beside, whole)


def _ends(one: Any, found: Described, names: list[str]) -> Data | None:
    """a and b with their anchors, b null for what does not move."""
    if not hasattr(one, "anchor_a"):
        return None
    rows = [found.bodies.index(body) if body in found.bodies else None for body in (one.a, one.b)]
    ends = [(one.a, one.anchor_a, rows[0]), (one.b, one.anchor_b, rows[1])]
    if rows[0] is None:
        ends.reverse()
    (a, on_a, row), (b, on_b, other) = ends
    if row is None:
        return None
    return {
        "a": names[row],
        "b": None if other is None else names[other],
        "anchor_a": list(on_a - a.center_of_gravity),
        "anchor_b": list(b.local_to_world(on_b) if other is None else on_b - b.center_of_gravity),
    }
