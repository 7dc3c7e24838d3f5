"""Which velocities and spins of bodies the joints of a scene let be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_engine.dense import mul, norm, pinv
from scenarios.scene import PlanarScene, Scene
from validation.engines.shared.embedding import rotation_matrix, start_in_space, vector_in_space

Array = NDArray[np.float64]

TAUT = 1e-9  # of its length: a rope that is shorter by more holds nothing


def let_by_joints(scene: Scene, spins: Mapping[str, Array]) -> dict[str, tuple[Array, Array]]:
    """Velocities and spins (3,) nearest to these spins alone that open no joint between these bodies, or with others.

    Other bodies do not move. spins: (1,) in the plane or (3,), of bodies by name. In the plane vectors have z = 0,
    spins x = y = 0. Nearest: by the sum of squares, lengths in metres.
    """
    names = list(spins)
    column = {name: 6 * k for k, name in enumerate(names)}
    wished = np.zeros(6 * len(names))
    for name, spin in spins.items():
        wished[column[name] + 6 - len(spin) : column[name] + 6] = spin
    free = np.ones(len(wished), bool)
    if isinstance(scene, PlanarScene):
        free = np.tile([True, True, False, False, False, True], len(names))
    rows = [row for joint in scene.joints for row in rates_of(scene, joint, column, len(wished))]
    found = wished
    if rows:
        J = np.array(rows)[:, free]
        found = np.zeros(len(wished))
        found[free] = wished[free] - mul(pinv(J, rcond=1e-9), mul(J, wished[free]))
    return {name: (found[k : k + 3], found[k + 3 : k + 6]) for name, k in column.items()}


def rates_of(scene: Scene, joint: Any, column: Mapping[str, int], width: int) -> list[Array]:
    """Rows (width,) whose products with velocities and spins are the rates at which the joint opens."""
    if joint.a not in column and joint.b not in column:
        return []
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    position, orientation, _, _ = start_in_space(scene)

    def place(name: str | None, anchor: Any) -> Array:
        point = vector_in_space(anchor)
        return point if name is None else position[index[name]] + mul(rotation_matrix(orientation[index[name]]), point)

    at_a, at_b = place(joint.a, joint.anchor_a), place(joint.b, joint.anchor_b)

    def parting(direction: Array, on_a: Array) -> Array:
        """Of b's anchor against the point of a, along the direction."""
        row = np.zeros(width)
        for name, point, sign in ((joint.a, on_a, -1.0), (joint.b, at_b, 1.0)):
            if name in column:
                k, arm = column[name], point - position[index[name]]
                row[k : k + 3] += sign * direction
                row[k + 3 : k + 6] += sign * np.cross(arm, direction)
        return row

    def turning(direction: Array) -> Array:
        row = np.zeros(width)
        for name, sign in ((joint.a, -1.0), (joint.b, 1.0)):
            if name in column:
                row[column[name] + 3 : column[name] + 6] += sign * direction
        return row

    axes = list(np.eye(3))
    if joint.kind in ("rod", "rope"):
        apart = at_b - at_a
        far = math.hypot(*apart)
        slack = joint.kind == "rope" and far < joint.length * (1.0 - TAUT)
        return [] if slack or far == 0.0 else [parting(apart / far, at_a)]
    if joint.kind in ("revolute", "ball"):
        return [parting(axis, at_a) for axis in axes]
    along = mul(rotation_matrix(orientation[index[joint.a]]), vector_in_space(joint.axis))
    along = along / norm(along)
    across = [axis - along * (mul(along, axis)) for axis in axes]
    if joint.kind == "hinge":
        return [parting(axis, at_a) for axis in axes] + [turning(axis) for axis in across]
    return [parting(axis, at_b) for axis in across] + [turning(axis) for axis in axes]  # a's point is where b's is now
