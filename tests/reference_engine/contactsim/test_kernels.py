"""The faithful kernels: one signature each, and nothing left behind in the arrays that a step reuses."""

import numba
import numpy as np
import pytest

from reference_engine import (
    Attraction,
    Body,
    Disc,
    FaithfulSettings,
    HalfPlane,
    Rope,
    World,
    box,
    faithful_simulate,
)
from reference_engine.contactsim import (
    collision,
    contact,
    detection,
    edges,
    impulse,
    integrator,
    paths,
    pivoting,
)
from reference_engine.contactsim.engine import ContactSim
from reference_engine.contactsim.settings import COLLISION_HANDLINGS, INTEGRATORS


def heap(**options):
    boxes = tuple(Body(shape=box(1.0, 1.0), position=(0.3 * k, 0.6 + 1.1 * k), angle=0.2 * k) for k in range(3))
    ball = Body(shape=Disc(0.3), position=(2.0, 1.0), spin=3.0)
    return World(bodies=(Body(shape=HalfPlane(), fixed=True), *boxes, ball), **options)


def test_every_kernel_has_been_compiled_for_one_signature_at_most():
    if numba.config.DISABLE_JIT:
        return
    rope = Rope(first=3, second=4, first_point=(0.0, 0.0), second_point=(0.0, 0.0), length=3.0)
    for handling in COLLISION_HANDLINGS:
        faithful_simulate(heap(connectors=(rope,)), 0.4, 0.025, FaithfulSettings(collision_handling=handling))
    for integrator_name in INTEGRATORS:
        faithful_simulate(heap(), 0.2, 0.025, FaithfulSettings(integrator=integrator_name))
    faithful_simulate(heap(forces=(Attraction(strength=1.0),)), 0.2, 0.025)
    for module in (collision, contact, detection, edges, impulse, integrator, paths, pivoting):
        for name, kernel in vars(module).items():
            if hasattr(kernel, "signatures"):
                assert len(kernel.signatures) <= 1, f"{module.__name__}.{name}: {kernel.signatures}"


def test_an_adaptive_step_that_settles_at_once_is_a_plain_step():
    """Whatever the integrator; but for the round-off of its length, which is that of its end less its start."""
    loose = {"adaptive": True, "adaptive_tolerance": 1e9, "adaptive_second_difference": False}
    for name in INTEGRATORS:
        plain = ContactSim(heap(), FaithfulSettings(integrator=name))
        adaptive = ContactSim(heap(), FaithfulSettings(integrator=name, **loose))
        for _ in range(60):
            plain.advance(0.025)
            adaptive.advance(0.025)
        assert adaptive.totals == plain.totals and plain.totals.collisions > 5
        assert adaptive.pose == pytest.approx(plain.pose, abs=1e-9)
        assert adaptive.twist == pytest.approx(plain.twist, abs=1e-9)


def test_a_run_is_repeated_to_the_bit_and_depends_on_the_seed():
    """The order of impulses is random: other seeds, other ends."""
    ends = [faithful_simulate(heap(), 1.5, 0.025, FaithfulSettings(random_seed=s)).pose[-1] for s in (5, 5, 6)]
    assert np.array_equal(ends[0], ends[1]) and not np.array_equal(ends[0], ends[2])


def test_looking_at_the_contact_forces_changes_nothing():
    looked, alone = ContactSim(heap()), ContactSim(heap())
    for _ in range(60):
        looked.advance(0.025)
        looked.contact_forces()
        alone.advance(0.025)
    assert np.array_equal(looked.pose, alone.pose) and looked.seed[0] == alone.seed[0]
