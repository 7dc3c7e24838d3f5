"""The way in: the motion of a world by the original's steps."""

import math
from collections.abc import Iterator

from reference_engine.contactsim.engine import ContactSim
from reference_engine.contactsim.settings import FaithfulSettings
from reference_engine.errors import WorldError
from reference_engine.planar_model.motion import NO_IMPACTS, Motion, Sample, collect, joined
from reference_engine.planar_model.world import World


def faithful_samples(
    world: World, duration: float, dt: float, settings: FaithfulSettings | None = None
) -> Iterator[Sample]:
    """The start and the end of every step, with the contact forces there and the impacts on the way."""
    for name, value in (("duration", duration), ("dt", dt)):
        if not (math.isfinite(value) and value > 0.0):
            raise WorldError(f"{name}: {value!r} s is not a positive finite time")
    sim = ContactSim(world, settings)
    for k in range(math.ceil(duration / dt - 1e-9) + 1):
        if k:
            sim.advance(min(dt, duration - (k - 1) * dt))
        impacts = joined([NO_IMPACTS, *sim.events])
        sim.events.clear()
        yield Sample(
            time=sim.time, pose=sim.pose[:-1].copy(), twist=sim.twist[:-1].copy(), contacts=sim.contact_forces(),
            impacts=impacts,
        )  # fmt: skip


def faithful_simulate(world: World, duration: float, dt: float, settings: FaithfulSettings | None = None) -> Motion:
    """The motion from 0 to `duration`, sampled at the end of every step."""
    return collect(faithful_samples(world, duration, dt, settings))
