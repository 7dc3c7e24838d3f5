"""Forces that are Python functions, on solutions that are known."""

import dataclasses
import math

import numpy as np
import pytest

from reference_engine import Body, ConstantForce, Disc, HalfPlane, Settings, World, WorldError, box, simulate

G = 9.81
GROUND = Body(shape=HalfPlane(), fixed=True)


def test_quadratic_drag_slows_a_disc_as_the_logarithm_says():
    """m v' = -c v^2: x = (m / c) log(1 + c v0 t / m)."""
    m, c, v0 = 2.0, 0.5, 3.0

    def drag(time, pose, twist):
        return -c * np.abs(twist) * twist * np.array([1.0, 1.0, 0.0])

    disc = Body(shape=Disc(0.3), mass=m, velocity=(v0, 0.0))
    motion = simulate(World(bodies=(disc,), forces=(drag,), gravity=(0.0, 0.0)), 4.0, 0.1)
    assert motion.pose[:, 0, 0] == pytest.approx(m / c * np.log1p(c * v0 * motion.time / m), abs=1e-11)


def test_a_block_starts_to_slide_when_the_push_has_grown_to_the_friction():
    """F = a t against mu m g, from rest: x = a (t - t0)^3 / (6 m) after t0 = mu m g / a."""
    mu, m, a = 0.4, 1.5, 3.0
    apply_forces = lambda time, pose, twist: np.array([[0.0, 0.0, 0.0], [a * time, 0.0, 0.0]])  # noqa: E731
    block = Body(shape=box(2.0, 0.2), mass=m, position=(0.0, 0.1))
    motion = simulate(World(bodies=(GROUND, block), forces=(apply_forces,), gravity=(0.0, -G), friction=mu), 3.0, 0.05)
    start = mu * m * G / a
    slips = motion.events.time[motion.events.kind == "slip"]
    assert slips[0] == pytest.approx(start, abs=1e-10)
    expected = a * np.maximum(motion.time - start, 0.0) ** 3 / (6.0 * m)
    assert motion.pose[:, 1, 0] == pytest.approx(expected, abs=1e-10)


def test_a_function_is_as_good_as_the_force_that_it_copies():
    """Through impacts and rest."""
    block = Body(shape=box(1.0, 1.0), mass=2.0, position=(0.0, 1.5), angle=0.3)
    apply_forces = ConstantForce(body=1, force=(1.0, 2.0), turns=False)
    forces = (apply_forces, lambda time, pose, twist: np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 0.0]]))
    start = World(bodies=(GROUND, block), gravity=(0.0, -G), friction=0.5, restitution=0.3)
    worlds = [dataclasses.replace(start, forces=(force,)) for force in forces]
    built_in, function = (simulate(world, 2.0, 0.1) for world in worlds)
    assert len(built_in.impacts.time) == len(function.impacts.time) > 3
    assert function.pose[-1] == pytest.approx(built_in.pose[-1], abs=1e-9)


def test_what_a_function_raises_arrives_as_it_is():
    class OutOfFuelError(Exception):
        pass

    def thrust(time, pose, twist):
        if time > 0.5:
            raise OutOfFuelError("at half a second")
        return np.zeros_like(pose)

    disc = Body(shape=Disc(0.3))
    with pytest.raises(OutOfFuelError, match="at half a second"):
        simulate(World(bodies=(disc,), forces=(thrust,)), 1.0, 0.1)


@pytest.mark.parametrize("given", [np.zeros(3), np.full((1, 3), math.nan), "far", None])
def test_what_are_no_forces_is_refused(given):
    with pytest.raises(WorldError, match=r"forces: .* gave .* with B = 1"):
        simulate(
            World(bodies=(Body(shape=Disc(0.3)),), forces=(lambda time, pose, twist: given,)), 1.0, 0.1, Settings()
        )
