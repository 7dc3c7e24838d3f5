"""What Rapier reports of the contacts of its last step."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from reference_engine.array_types import Array

UNKNOWN = (math.nan, math.nan, math.nan)  # impulse along the normal and the two tangents


def contact_rows(
    world: Any, member_of: Callable[[Any], int], known: Callable[[int, int], bool]
) -> tuple[Array, Array, Array, Array, Array, Array] | None:
    """First and second member, points, normals, gaps and impulses, (K,) or (K, 3), of what was solved; None for none.

    `member_of`: of a collider's handle; -1 for what is no member. `known`: whether the friction of two members is
    reported. Gaps are those that the step started from.
    """
    colliders = world.colliders
    rows: list[tuple[Any, ...]] = []
    for pair in world.narrow_phase.contact_pairs():
        first, second = colliders[pair.collider1], colliders[pair.collider2]
        a, b = member_of(pair.collider1), member_of(pair.collider2)
        if min(a, b) < 0 or a == b:
            continue
        found = [(manifold, manifold.data) for manifold in pair.manifolds]
        merged = pair.has_any_active_contact and not any(data.solver_contacts for _, data in found)
        told = not merged and known(a, b)
        for manifold, data in found:
            solved = {contact.contact_id for contact in data.solver_contacts}
            if not merged and not solved:
                continue
            normal, of_first, of_second = data.normal.to_tuple(), first.position, second.position
            for contact in manifold.points:
                if merged or contact.contact_id in solved:
                    ends = of_first.transform_point(contact.local_p1), of_second.transform_point(contact.local_p2)
                    impulse = (contact.impulse, *contact.tangent_impulse) if told else UNKNOWN
                    rows.append((a, b, *(end.to_tuple() for end in ends), normal, contact.dist, impulse))
    if not rows:
        return None
    firsts, seconds, on_a, on_b, normals, gaps, impulses = (np.array(part, np.float64) for part in zip(*rows))
    pressing, t, u = impulses.T[..., None]
    across, along = _tangents(normals)
    return firsts, seconds, (on_a + on_b) / 2, normals, gaps, normals * pressing + along * t + across * u


def _tangents(normal: Array) -> tuple[Array, Array]:
    """The directions (K, 3) of the two numbers of `tangent_impulse`, the second first: unit, normal to unit normals.

    Duff et al. 2017, Building an orthonormal basis, revisited (JCGT 6.1), which is what Rapier uses; found from the
    momentum that sliding balls lose.
    """
    x, y, z = normal.T
    sign = np.copysign(1.0, z)
    a = -1.0 / (sign + z)
    first = np.stack([1.0 + sign * x * x * a, sign * x * y * a, -sign * x], axis=1)
    return first, np.stack([x * y * a, sign + y * y * a, -y], axis=1)
