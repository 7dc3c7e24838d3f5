"""The upright block, 1 x 3: standing, about to stand, or falling back onto its base.

`at-gap` and `rock` are the runs on record for the original ContactSim: gravity 5, elasticity 0.8, no damping, a
contact tolerance of 0.01 of which it keeps half as a gap. The other starts have gravity 9.81 and restitution 0.
All are frictionless: what moves sideways was invented by the engine.
"""

import math
from typing import Literal

import numpy as np

from reference_engine import elementary
from reference_engine.elementary import squared
from scenarios.catalogue.shared.bodies import G, GroundKind, Space, block, lay_ground, scene_of
from scenarios.catalogue.shared.laws import RESTING_SHARE, contact_laws, make_scenario
from scenarios.catalogue.shared.poses import Array, path, poses_in_plane
from scenarios.scenario import Canonical, Family, Noise, Scenario
from scenarios.truth import Event, Invariant

Start = Literal["touching", "at-gap", "rock", "drop", "tilt"]

WIDTH, HEIGHT = 1.0, 3.0  # m
DURATION = 20.0  # s
CONTACTSIM_G, CONTACTSIM_RESTITUTION = 5.0, 0.8
CONTACTSIM_GAP = 0.005  # m
ROCK_GAP, ROCK_SPIN = 0.007, 0.05  # m, rad/s: centre at 1.507
DROP = 1e-3  # m
TILT = 1e-3  # rad, about the lower corner
SETTLED = 5.0  # s
"""By then `rock` and `tilt` stand. Upper bound: the energy of `rock` lifts a corner by at most 0.0145 rad, a quarter
swing takes 0.2 s, and each impact keeps at most 0.8 of the speed: 2 * 0.2 / (1 - 0.8) = 2 s. `tilt`: 0.2 s."""

NOISE: dict[str, Noise] = {
    **dict.fromkeys(("truth_error_position", "energy_drift", "energy_gain"), "step"),
    "truth_error_angle": "chaotic",  # which corner takes the weight first; Box2D stays tilted by 0.3 or by 1.3 mrad
}
STATICS = "statics: the weight acts through the middle of the base"
CONTACTSIM = "the run recorded for ContactSim, myphysicslab.com (gravity 5, elasticity 0.8, no damping)"
SOURCES: dict[Start, str] = {
    "touching": STATICS,
    "drop": f"free fall, Newton's law of restitution with e = 0; {STATICS}",
    "tilt": f"energy: a tilt of 1 mrad cannot turn a block whose tipping angle is 0.32 rad; {STATICS}",
    "rock": f"{CONTACTSIM}; energy: 0.036 J per kg cannot lift the centre over a corner, which takes 0.41; {STATICS}",
    "at-gap": f"{CONTACTSIM}; it keeps the gap of 5 mm that an engine without a gap closes",
}


def upright_block(*, start: Start = "touching", space: Space = "planar", ground: GroundKind = "plane") -> Scenario:
    """Upright block: a 1 x 3 block at rest, or a hair from it, for twenty seconds"""
    recorded = start in ("at-gap", "rock")
    g = CONTACTSIM_G if recorded else G
    restitution = CONTACTSIM_RESTITUTION if recorded else 0.0
    angle = TILT if start == "tilt" else 0.0
    gap = {"at-gap": CONTACTSIM_GAP, "rock": ROCK_GAP, "drop": DROP}.get(start, 0.0)
    rest_y = HEIGHT / 2.0
    body = block(
        space,
        "block",
        size=(WIDTH, HEIGHT),
        y=gap + WIDTH / 2.0 * elementary.sin(angle) + rest_y * elementary.cos(angle),
        angle=angle,
        spin=ROCK_SPIN if start == "rock" else 0.0,
        restitution=restitution,
    )
    scene = scene_of(
        space,
        (body,),
        lay_ground(space, ground, restitution=restitution),
        title=f"Upright block, {start}",
        duration=DURATION,
        g=g,
    )
    landing = math.sqrt(2.0 * DROP / G)

    def motion(time: Array) -> Array:
        above = np.where(time < landing, DROP - 0.5 * G * squared(time), 0.0) if start == "drop" else 0.0
        return path(time, y=rest_y + above)

    invariants: set[Invariant] = {"rest", "momentum-x", "energy" if start == "touching" else "energy-not-gained"}
    return make_scenario(
        scene,
        probes="rest on two corners: sinking, jitter, drift, energy from nothing",
        regime="rest",
        kind="invariants" if start == "at-gap" else "closed form",
        source=SOURCES[start],
        span=(SETTLED if start in ("rock", "tilt") else 0.0, DURATION),
        pose=None if start == "at-gap" else poses_in_plane(scene, motion),
        events=(Event(a="block", b="ground", number=1, time=landing),) if start == "drop" else (),
        invariants=frozenset(invariants),
        headline="gap_final",
        noise=NOISE,
        laws=contact_laws(scene, share=RESTING_SHARE),
    )


CANONICAL: Canonical = (
    {}, {"start": "at-gap"}, {"start": "rock"}, {"start": "drop"}, {"start": "tilt"}, {"ground": "box"},
    {"space": "spatial"}, {"space": "spatial", "ground": "box"},
    {"start": "tilt", "space": "spatial", "ground": "box"},
)  # fmt: skip
FAMILY = Family("upright-block", upright_block, CANONICAL, subject="the upright block")
