"""Hertz's law as engines have it whose only compliant contact is a linear spring with a linear damper.

A linear spring agrees with Hertz's at one depth. Under gravity that is the depth at which the contact carries the
lighter body, the force being the same; without gravity that to which the fastest body of the start would press the two,
the energy being the same. The damper gives the rebound that the nominal coefficient of restitution has by the scene's
law where nothing else acts; it is critical where that is below 0.135, and for a coefficient of 0. Contacts push and
never pulls (Schwager & Poeschel 2007, Granular Matter 9).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from scenarios.contact import deepest, rebound_ratio, stiffness
from scenarios.scene import Scene, colliding_pairs


class LinearContact(NamedTuple):
    """force = stiffness depth + damping (rate of depth)"""

    stiffness: float  # N/m
    damping: float  # N s/m
    mass: float  # kg, m_a m_b / (m_a + m_b)


def linear_contact(scene: Scene, a: Any, b: Any) -> LinearContact:
    """Of two of the scene's bodies or boundaries, of which one is free."""
    given = scene.contact.compliant
    assert given is not None
    c, law = stiffness(given, a, b), given.law(a, b)
    weights = [m.mass for m in (a, b) if getattr(m, "mass", None) is not None]
    mass = 1.0 / sum(1.0 / m for m in weights)
    gravity = float(np.linalg.norm(scene.gravity))
    speed = max(float(np.linalg.norm(body.velocity)) for body in scene.bodies)
    if gravity > 0.0:
        K = c * (min(weights) * gravity / c) ** (1.0 / 3.0)
    else:
        K = 0.8 * c * math.sqrt(deepest(given, a, b, 0.5 * mass * max(speed, law.v_small) ** 2))
    e = law.restitution
    x = 8.0 * (1.0 - e) / (5.0 * e) if e > 0.0 else math.inf
    if gravity == 0.0:
        x = min(x, given.most_damping * speed)
    zeta = 1.0 if x == math.inf else damping_ratio(rebound_ratio(x))
    return LinearContact(K, 2.0 * zeta * math.sqrt(K * mass), mass)


def damping_ratio(rebound: float) -> float:
    """Of the linear contact that returns this share of the speed; 1 for less than exp(-2)."""

    def returned(zeta: float) -> float:
        s = math.sqrt(1.0 - zeta * zeta)
        return math.exp(-zeta / s * (math.pi - math.atan2(2.0 * zeta * s, s * s - zeta * zeta)))

    low, high = 0.0, 1.0 - 1e-12
    if rebound <= returned(high):
        return 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if returned(middle) > rebound else (low, middle)
    return 0.5 * (low + high)


MOST_DAMPED = 3.0  # damping ratio; its bounce has 0.024 of the speed


def bounce(restitution: float, lasts: float) -> tuple[float, float]:
    """Stiffness and damping over the mass, 1/s^2 and 1/s, of a contact that returns this share of any speed: pi over
    the frequency of its spring is `lasts`, s, the longest that it stays in contact; without damping it does. It pushes
    and never pulls: from z = cos a on e = exp(-2 a z / sin a), beyond 1 the same with hyperbolic functions. No
    restitution is below that of `MOST_DAMPED`.
    """
    low, high = 0.0, MOST_DAMPED
    for _ in range(60):
        zeta = 0.5 * (low + high)
        s = math.sqrt(abs(1.0 - zeta * zeta))
        a = math.acos(zeta) if zeta < 1.0 else math.acosh(zeta)
        returned = math.exp(-2.0 * zeta * (a / s if s > 0.0 else 1.0))
        low, high = (zeta, high) if returned > restitution else (low, zeta)
    frequency = math.pi / lasts
    return frequency * frequency, 2.0 * (0.0 if restitution >= 1.0 else low) * frequency


def body_values(scene: Scene) -> tuple[list[float], list[float]] | None:
    """Stiffness [N/m] and damping [N s/m] of each body and boundary such that those of every pair that may meet are
    what springs in series and dampers side by side give: 1/K = 1/k_a + 1/k_b, D = d_a + d_b. None if there are none.
    """
    members = (*scene.bodies, *scene.boundaries)
    index = {member.name: i for i, member in enumerate(members)}
    pairs = [(index[a], index[b]) for a, b in colliding_pairs(scene)]
    found = [linear_contact(scene, members[i], members[j]) for i, j in pairs]
    rows = np.zeros((len(pairs), len(members)))
    for row, pair in zip(rows, pairs):
        row[list(pair)] = 1.0
    values = []
    for wanted in ([1.0 / contact.stiffness for contact in found], [contact.damping for contact in found]):
        # The least-norm solution shares out evenly what pairs leave open.
        each = np.linalg.lstsq(rows, np.array(wanted), rcond=None)[0]
        if (each < -1e-9 * max(wanted)).any() or not np.allclose(rows @ each, wanted, rtol=1e-9, atol=1e-12):
            return None
        values.append(np.maximum(each, 0.0))
    return [1.0 / share if share > 0.0 else RIGID for share in values[0]], values[1].tolist()


RIGID = 1e18  # N/m, as Bullet has it
