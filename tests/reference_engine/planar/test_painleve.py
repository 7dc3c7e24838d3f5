"""The rod that Painleve found: where Coulomb's law and rigid bodies have no motion, that is said."""

import dataclasses
import math

import pytest

from reference_engine import PainleveError, World, simulate
from tests.reference_engine.planar.scenes import GRAVITY, ground, rod


def scraping(angle: float, spin: float, mu: float, speed: float) -> World:
    """A rod of 1 m at `angle` from the floor whose lower, left end slides to the left at `speed` (m/s)."""
    body = rod(1.0, -(0.5 * math.pi - angle))
    lever = 0.5 * math.cos(angle), 0.5 * math.sin(angle)  # of the centre from the lower end
    velocity = (-speed - spin * lever[1], spin * lever[0])
    body = dataclasses.replace(body, velocity=velocity, spin=spin)
    return World(bodies=(ground(), body), friction=mu, restitution=0.0)


def test_a_painleve_rod_has_no_forces_and_is_reported():
    """m p = 1 + 3 cos (cos - mu sin) < 0, b = l w^2 sin - g < 0, l = L/2: pushed ahead of its centre at 1.1 rad.

    a = p f + b < 0 for every f >= 0: no motion that is finite obeys Coulomb's law (Painleve 1895).
    """
    with pytest.raises(PainleveError) as caught:
        simulate(scraping(1.1, 2.0, 1.4, 1.0), 0.1, 0.1)
    assert caught.value.p == pytest.approx(-0.08059412390415795, rel=1e-9)
    assert caught.value.b == pytest.approx(-8.027585279877129, rel=1e-9)
    assert caught.value.time == 0.0
    assert len(caught.value.bodies) == 2


@pytest.mark.parametrize(("mu", "speed"), [(1.3, 1.0), (1.4, -1.0)], ids=["below 4/3", "dragged behind"])
def test_the_same_rod_slides_where_painleve_has_no_objection(mu, speed):
    """mu below 4/3, or slip to the other side: p > 0, and the normal force is -b/p."""
    motion = simulate(scraping(1.1, 2.0, mu, speed), 0.01, 0.01)
    s, c = math.sin(1.1), math.cos(1.1)
    p = 1.0 + 3.0 * c * (c - math.copysign(mu, speed) * s)
    assert motion.contacts_at(0).force == pytest.approx([(GRAVITY - 2.0 * s) / p], rel=1e-9)


def test_where_contact_and_parting_both_obey_all_laws_the_rod_parts_and_the_log_says_so():
    """p < 0 and b = l w^2 sin - g > 0: f = -b/p > 0 would hold too, but any less force lets it go (indeterminate)."""
    motion = simulate(scraping(1.1, 6.0, 1.4, 1.0), 0.02, 0.01)
    assert motion.events.kind[0] == "indeterminate"
    assert motion.events.time[0] == 0.0
    assert len(motion.contacts_at(0).force) == 0
    assert len(motion.impacts.time) == 0
    assert motion.twist[-1, 1] == pytest.approx(motion.twist[0, 1] - [0.0, GRAVITY * 0.02, 0.0], abs=1e-12)
