"""A spool that is pulled by its thread."""

import math

import pytest

from reference_engine.planar.simulate import simulate_at
from reference_engine.planar_model.forces import ConstantForce
from reference_engine.planar_model.shape import Disc, HalfPlane
from reference_engine.planar_model.world import Body, World

G = 9.81


@pytest.mark.parametrize("angle", [0.3, math.acos(0.6) - 0.05, math.acos(0.6) + 0.05])
def test_a_spool_rolls_towards_its_thread_while_that_meets_the_ground_before_it(angle):
    """The thread leaves the lower side of an inner drum of 0.6 of the rim at an angle up from the ground: the moment
    about the point of contact is F (R cos(angle) - r), which turns at cos(angle) = r / R."""
    R, r, inertia, pull = 0.5, 0.3, 0.1, 2.0
    force = (pull * math.cos(angle), pull * math.sin(angle))
    spool = Body(shape=Disc(R), position=(0.0, R), inertia=inertia)
    thread = ConstantForce(body=1, force=force, torque=pull * r, turns=False)
    world = World(bodies=(Body(shape=HalfPlane(), fixed=True), spool), forces=(thread,), friction=0.8, restitution=0.0)
    motion = simulate_at(world, [0.0, 0.7])
    a = pull * (R * math.cos(angle) - r) * R / (inertia + R * R)
    assert motion.pose[-1, 1, 0] == pytest.approx(0.5 * a * 0.49, abs=1e-12)
    assert (a > 0.0) == (math.cos(angle) > r / R)
    assert motion.twist[-1, 1, 2] == pytest.approx(-0.7 * a / R, abs=1e-12)
