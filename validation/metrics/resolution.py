"""What a measurement cannot resolve, for reasons that lie in no law: single precision, and the time step at a contact.

A body that starts in contact is held from the first step on, or, where round-off puts it 1e-12 m off, only after having
fallen freely through that step: by g dt^2 at g dt. Every later contact is found as late. Of one and the same code all
of this is noise, and the falls of several bodies are independent: they add like a random walk.
"""

from __future__ import annotations

import math

from reference_engine.dense import norm
from reference_engine.elementary import squared
from validation.metrics.observation import Observation, free, free_mass, point_speed, shared, size

SINGLE = 1e-6  # of the scale of a quantity: single precision, several operations
LEAST_SHARE = 0.01  # ratios of impulses are taken to a scale that may be as small a share of the largest


@shared
def scales(o: Observation) -> dict[str, float]:
    """Of each unit the largest that the motion has of it."""
    M, L, v = float(free_mass(o).sum()), size(o), float(point_speed(o).max())
    momentum = M * v
    return {
        "m": L,
        "rad": 1.0,
        "m/s": v,
        "J": 0.5 * momentum * v,
        "kg m/s": momentum,
        "kg m^2/s": momentum * L,
        "1": 1.0 / LEAST_SHARE,
    }


def round_off(o: Observation, unit: str) -> float:
    """In `unit`: what single precision leaves open; 0 where that says nothing, or the scale is beyond all bounds."""
    scale = scales(o).get(unit, 0.0)
    return SINGLE * scale if math.isfinite(scale) else 0.0


def step_fall(o: Observation, unit: str) -> float:
    """In `unit`: what free fall through a time step leaves open. With F free bodies of mass M, reach L/2

    d = (1 + sqrt(F)) g dt^2 (m),  2 d / L (rad),  d / dt (m/s),  M g d (J),  M d / dt (kg m/s),  d / (g dt) (s)
    """
    g, dt, M = float(norm(o.gravity)), o.trajectory.dt, float(free_mass(o).sum())
    several = 1.0 + math.sqrt(int(free(o).sum()))
    d = several * g * squared(dt)
    return {
        "m": d,
        "rad": 2.0 * d / size(o),
        "m/s": d / dt,
        "J": M * g * d,
        "kg m/s": M * d / dt,
        "s": several * dt,
    }.get(unit, 0.0)
