"""Newton's cradle with its balls in contact: whose law of impact is it?"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from scenarios.catalogue.bodies import ball, poses_in_plane, scene_of
from scenarios.catalogue.laws import MOMENTUM_SHARE, MOVING_SHARE, contact_laws
from scenarios.catalogue.meaningless import AT_THE_END, OF_REST
from scenarios.catalogue.newtons_cradle import RADIUS, exact_decimal, last_speed
from scenarios.scenario import Family, Scenario, Value, Within
from scenarios.scene import ContactLaw, ImpactOrder
from scenarios.truth import Event, Goal, Invariant, Truth

Array = NDArray[np.float64]

RUN_UP = 0.2512  # m, from the first ball to the others; the impact is at no sample, where a velocity would be two
AFTER = 0.25  # s; long enough to read speeds


def speeds_after(n: int, speed: Fraction, restitution: Fraction, order: ImpactOrder) -> list[Fraction]:
    """Of n equal balls in contact, the first of which arrives with `speed`, exactly.

    simultaneous: the struck pair parts with e times its approach, pairs that were at rest stay together (Moreau 1988;
    by Poisson's law the same). sequential: pair by pair, the fastest approach first.
    """
    v = [speed] + [Fraction(0)] * (n - 1)
    if order == "simultaneous":
        together = speed * (1 + restitution) / n
        return [together - restitution * speed] + [together] * (n - 1)
    while (approach := max((v[i] - v[i + 1], -i) for i in range(n - 1)))[0] > 0:
        i = -approach[1]
        mean, half = (v[i] + v[i + 1]) / 2, restitution * approach[0] / 2
        v[i], v[i + 1] = mean - half, mean + half
    return v


def cradle_in_touch(
    *,
    n: Literal[3, 4, 5] = 5,
    order: Literal["sequential", "simultaneous"] = "sequential",
    speed: Annotated[float, Within(0.01, 100.0)] = 1.0,
    restitution: Annotated[float, Within(0.35, 1.0)] = 1.0,
) -> Scenario:
    """Newton's cradle in contact: n equal balls in a row, all but the first in contact; the scene says which law holds

    Rigid mechanics gives no single answer. One after the other, the last ball leaves alone; at once, all move on and
    the first comes back. An engine that has one law of its own shows by the goal which one it is.
    """
    after = speeds_after(n, exact_decimal(speed), exact_decimal(restitution), order)
    struck = RUN_UP / speed
    duration = round(struck + AFTER / speed, 6)
    bodies = tuple(
        ball(
            "planar",
            f"ball {i + 1}",
            radius=RADIUS,
            x=2.0 * RADIUS * i - (RUN_UP if i == 0 else 0.0),
            y=0.0,
            velocity=(speed if i == 0 else 0.0, 0.0),
            restitution=restitution,
        )
        for i in range(n)
    )
    scene = scene_of("planar", bodies, title="Newton's cradle in touch", duration=duration, g=0.0)
    scene = scene.model_copy(update={"contact": ContactLaw(impact_order=order)})
    kept: frozenset[Invariant] = frozenset(
        {"momentum", "angular-momentum", "energy" if restitution == 1.0 else "energy-not-gained"}
    )
    return Scenario(
        name="cradle-in-touch",
        title="Newton's cradle in touch",
        probes="the law of simultaneous impacts, restitution, momentum of a closed system",
        regime="impact",
        scene=scene,
        truth=Truth(
            kind="closed form",
            source="Newton's law of restitution at all places at once (Moreau 1988), or pair by pair; exact rationals",
            span=(0.0, duration),
            pose=poses_in_plane(scene, lambda time: _row(after, speed, struck, time)),
            events=(Event(a="ball 1", b="ball 2", number=1, time=struck),),
            goal=Goal(name="speed of the last ball", unit="m/s", exact=float(after[-1]), measure=last_speed),
            invariants=kept,
        ),
        headline="truth_error_goal",
        laws=contact_laws(scene, share=MOVING_SHARE) | {"momentum_drift": MOMENTUM_SHARE * speed},
        meaningless=OF_REST | AT_THE_END | (frozenset() if restitution == 1.0 else {"energy_drift"}),
    )


def _row(after: list[Fraction], speed: float, struck: float, time: Array) -> Array:
    """(S, n, 3): uniform motion before and after."""
    pose = np.zeros((len(time), len(after), 3))
    pose[..., 0] = 2.0 * RADIUS * np.arange(len(after))
    pose[..., 0] += np.maximum(0.0, time - struck)[:, None] * [float(v) for v in after]
    pose[:, 0, 0] += speed * np.minimum(0.0, time - struck)
    return pose


CANONICAL: tuple[Mapping[str, Value], ...] = ({}, {"order": "simultaneous"})
FAMILY = Family("cradle-in-touch", cradle_in_touch, CANONICAL, subject="the row of {n} balls")
