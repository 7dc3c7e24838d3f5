"""Forces of joints, ropes and rods, on the first body of each, against statics and the pendulum's centripetal force."""

import math

import numpy as np
import pytest

from reference_engine import Body, Disc, HalfPlane, Joint, Rope, World, box, simulate
from tests.reference_engine.planar.worlds import GRAVITY

LENGTH = 0.5


def hanging(masses: list[float]) -> World:
    """Bars that hang on one another, the first on the background, each by a pin of two joints."""
    bodies, pins = [], []
    for k, mass in enumerate(masses):
        bodies.append(Body(shape=box(0.1, LENGTH), mass=mass, position=(0.0, -LENGTH * (k + 0.5))))
        end = (0.0, 0.5 * LENGTH)
        below = (0.0, 0.0) if k == 0 else (0.0, -0.5 * LENGTH)
        pins += [
            Joint(first=k, second=k - 1, first_point=end, second_point=below, normal=normal)
            for normal in ((1.0, 0.0), (0.0, 1.0))
        ]
    return World(bodies=tuple(bodies), connectors=tuple(pins))


def test_the_pins_of_a_hanging_chain_carry_the_weights_below_them():
    masses = [1.0, 20.0, 0.3, 5.0]
    motion = simulate(hanging(masses), 0.5, 0.1)
    assert motion.connector_force.shape == (len(motion.time), 8, 2)
    weights = GRAVITY * np.cumsum(masses[::-1])[::-1]
    for k, weight in enumerate(weights):
        np.testing.assert_allclose(motion.connector_force[:, 2 * k : 2 * k + 2].sum(axis=1)[:, 0], 0.0, atol=1e-10)
        np.testing.assert_allclose(motion.connector_force[:, 2 * k + 1, 1], weight, rtol=1e-12)


@pytest.mark.parametrize("rod", [True, False], ids=["rod", "rope"])
def test_the_thread_of_a_pendulum_pulls_with_the_weight_along_it_and_the_centripetal_force(rod):
    """F = m (g cos angle + l w^2), towards the pivot; with w^2 = 2 g (cos angle - cos start) / l from the energy."""
    mass, start = 2.0, 1.0
    bob = Body(shape=Disc(0.1), mass=mass, position=(LENGTH * math.sin(start), -LENGTH * math.cos(start)), angle=0.0)
    thread = Rope(first=0, second=-1, first_point=(0.0, 0.0), second_point=(0.0, 0.0), length=LENGTH, rod=rod)
    motion = simulate(World(bodies=(bob,), connectors=(thread,)), 2.0, 0.05)
    x, y = motion.pose[:, 0, 0], motion.pose[:, 0, 1]
    pull = mass * GRAVITY * (3.0 * (-y / LENGTH) - 2.0 * math.cos(start))
    expected = -np.stack([x, y], axis=1) / LENGTH * pull[:, None]
    np.testing.assert_allclose(motion.connector_force[:, 0], expected, atol=1e-9)


def test_a_rope_pulls_nothing_while_it_is_slack_and_the_second_body_the_other_way():
    """The lower of two discs rests on the ground and its rope hangs; the upper is held by a rope of the background."""
    upper, lower = Body(shape=Disc(0.1), position=(0.0, 2.0)), Body(shape=Disc(0.1), position=(0.0, 0.1), mass=3.0)
    ropes = (
        Rope(first=-1, second=0, first_point=(0.0, 3.0), second_point=(0.0, 0.0), length=1.0),
        Rope(first=0, second=1, first_point=(0.0, 0.0), second_point=(0.0, 0.0), length=2.5),
    )
    world = World(bodies=(upper, lower, Body(shape=HalfPlane(), fixed=True)), connectors=ropes)
    motion = simulate(world, 0.2, 0.1)
    np.testing.assert_allclose(motion.connector_force[:, 0], [[0.0, -GRAVITY]] * len(motion.time), atol=1e-12)
    assert not motion.connector_force[:, 1].any()
