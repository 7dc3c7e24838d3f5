"""Elastic contact, located: rebounds by Lambert's W, depths by the balance of forces, and energies that add up."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.special import lambertw

from reference_engine import (
    CompliantBody,
    CompliantError,
    CompliantSettings,
    CompliantWorld,
    Material,
    Materials,
    PairLaw,
    simulate_compliant,
)
from reference_engine.geometry.spatial_shapes import (
    Box,
    Capsule,
    Cone,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Sphere,
)
from tests.effort import few

MODULUS, POISSON, RADIUS, MASS = 1e9, 0.3, 0.1, 2.0
FLOOR = CompliantBody(shape=HalfSpace((0, 0, 0), (0, 0, 1)), material="steel", fixed=True, name="floor")
TETRAHEDRON = 0.2 * np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)])


def of_steel(restitution, friction=0.0, rolling=0.0):
    return Materials(
        materials={"steel": Material(young_modulus=MODULUS, poisson_ratio=POISSON)},
        pairs={
            ("steel", "steel"): PairLaw(
                restitution=restitution, sliding_friction=friction, rolling_resistance=rolling
            )
        },
    )  # fmt: skip


def ball(x, y, z, velocity=(0.0, 0.0, 0.0), **more):
    return CompliantBody(
        shape=Sphere(RADIUS), material="steel", mass=MASS, position=(x, y, z), velocity=velocity, **more
    )  # fmt: skip


def world(*bodies, materials=None, **more):
    return CompliantWorld(bodies=bodies, materials=materials or of_steel(0.7), **more)


def energy(motion):
    return motion.kinetic + motion.potential + motion.elastic + motion.dissipated


def stiffness(radius):
    """4/3 sqrt(r) c of two bodies of the same steel."""
    return 4.0 / 3.0 * math.sqrt(radius) * MODULUS / (2.0 * (1.0 - POISSON**2))


@pytest.mark.parametrize(("e",), few(2, [(0.1,), (0.9,), (0.3,), (0.5,), (0.7,), (0.98,)]))
@pytest.mark.parametrize("speed", [0.02, 1.0])
def test_a_ball_rebounds_as_lamberts_function_says(e, speed):
    motion = simulate_compliant(
        world(ball(0, 0, 0.15, (0, 0, -speed)), FLOOR, materials=of_steel(e), gravity=(0, 0, 0)), [0.0, 0.2 / speed]
    )
    x = min(8.0 * (1.0 - e) / (5.0 * e), 2000.0 * speed)
    ratio = (1.0 + lambertw(-(1.0 + x) * math.exp(-(1.0 + x))).real) / x
    assert motion.velocity[-1, 0, 2] / speed == pytest.approx(ratio, abs=1e-9)
    assert_allclose(motion.velocity[-1, 0, :2], 0.0, atol=1e-15)


def test_two_balls_rebound_alike_whatever_they_weigh():
    heavy = CompliantBody(
        shape=Sphere(3 * RADIUS), material="steel", mass=50.0, position=(1.0, 0.3, 0.2), velocity=(-1.0, -0.3, -0.2)
    )
    motion = simulate_compliant(world(ball(0, 0, 0), heavy, gravity=(0, 0, 0), materials=of_steel(0.5)), [0.0, 1.5])
    assert np.linalg.norm(motion.velocity[-1, 1] - motion.velocity[-1, 0]) == pytest.approx(
        0.4704447793267395 * math.sqrt(1.13), abs=1e-9
    )
    before, after = (motion.velocity[k, 0] * MASS + motion.velocity[k, 1] * 50.0 for k in (0, -1))
    assert_allclose(after, before, atol=1e-11)


@pytest.mark.parametrize("end", [0.05, 0.08888217956065504, 0.3, 7.0, 1000.0])
@pytest.mark.parametrize("speed", [0.03, 10.0])
@pytest.mark.parametrize("size", [0.005, 0.2])
def test_balls_rebound_alike_whenever_the_last_sample_is(end, speed, size):
    """A step as long as the flight before would take them through one another, apart at all of its stages."""
    mass = MASS * (size / RADIUS) ** 3
    far = CompliantBody(shape=Sphere(size), material="steel", mass=mass, position=(2.02 * size, 0.0, 0.0))
    near = CompliantBody(shape=Sphere(size), material="steel", mass=mass, velocity=(speed, 0.0, 0.0))
    onset = 0.02 * size / speed
    motion = simulate_compliant(
        world(near, far, gravity=(0, 0, 0), materials=of_steel(0.5)), [0.0, onset, onset + end / speed]
    )
    assert list(motion.events.kind) == ["contact", "separation"]
    assert motion.events.approach == pytest.approx(speed * np.array([1.0, -0.4704447793267395]), rel=1e-7)
    assert_allclose(motion.imbalance, 0.0, atol=3e-10 * motion.kinetic[0])  # light and slow: round-off of the gap


def test_a_ball_does_not_pass_through_a_thin_plate_in_a_step_that_is_as_long_as_its_fall():
    plate = CompliantBody(shape=Box((1.0, 1.0, 0.001)), material="steel", fixed=True)
    pellet = CompliantBody(shape=Sphere(0.002), material="steel", mass=0.001, position=(0, 0, 2.0), velocity=(0, 0, -9))
    motion = simulate_compliant(world(pellet, plate, gravity=(0, 0, 0)), [0.0, 5.0])
    assert motion.velocity[-1, 0, 2] > 0.0 and list(motion.events.kind) == ["contact", "separation"]
    assert_allclose(motion.imbalance, 0.0, atol=1e-12)


def test_events_are_located_where_the_surfaces_meet_and_part():
    motion = simulate_compliant(world(ball(0, 0, 0.3), FLOOR), [0.0, 1.0])
    events = motion.events
    assert events.kind[:2].tolist() == ["contact", "separation"]
    assert events.time[0] == pytest.approx(math.sqrt(2.0 * 0.2 / 9.81), abs=1e-13)
    assert events.approach[0] == pytest.approx(math.sqrt(2.0 * 0.2 * 9.81), abs=1e-11)
    met, parted = events.gap[events.kind == "contact"], events.gap[events.kind == "separation"]
    assert (met <= 1e-13).all() and (met > -1e-14).all()  # right of the touch, by round-off
    assert (parted >= 2e-13).all() and (parted < 3e-13).all()
    assert_allclose(events.normal, [(0, 0, -1)] * len(events.time), atol=1e-15)
    assert_allclose(events.point[:, 2], 0.0, atol=1e-12)
    assert (np.diff(events.time) > 0.0).all()
    assert_allclose(events.damping[0], 8.0 * 0.3 / (5.0 * 0.7 * events.approach[0]), rtol=1e-12)


def test_a_ball_at_rest_is_as_deep_as_its_weight_presses_it():
    motion = simulate_compliant(world(ball(0, 0, RADIUS), FLOOR), [0.0, 0.6, 0.7])
    depth = (MASS * 9.81 / stiffness(RADIUS)) ** (2.0 / 3.0)
    assert RADIUS - motion.position[1:, 0, 2] == pytest.approx(depth, abs=1e-11)
    assert motion.elastic[-1] == pytest.approx(0.4 * stiffness(RADIUS) * depth**2.5, rel=1e-9)


def test_a_slow_approach_counts_as_one_without_restitution():
    motion = simulate_compliant(world(ball(0, 0, 0.101, (0, 0, -0.009)), FLOOR, gravity=(0, 0, 0)), [0.0, 0.5])
    assert motion.events.restitution[0] == 0.0 and motion.events.damping[0] == 2000.0
    assert motion.velocity[-1, 0, 2] < 0.2 * 0.009


def test_balls_that_collide_and_roll_keep_the_sum_of_four_energies():
    motion = simulate_compliant(
        world(ball(-0.3, 0, RADIUS, (2, 0, 0)), ball(0, 0.03, RADIUS), FLOOR, materials=of_steel(0.7, 0.3, 0.01)),
        np.linspace(0.0, 0.4, 21),
    )
    pairs = {tuple(pair) for pair in motion.events.pair.tolist()}
    assert pairs == {(0, 1), (0, 2), (1, 2)}
    assert_allclose(energy(motion), energy(motion)[0], atol=1e-11)
    assert motion.dissipated[-1] > 0.1 and (np.diff(motion.dissipated) >= 0.0).all()


def test_a_ball_thrown_flat_slides_until_it_rolls():
    """With the friction regularised: while it slips faster than v_small it loses mu g, and ends near 5/7."""
    motion = simulate_compliant(
        world(ball(0, 0, RADIUS - (MASS * 9.81 / stiffness(RADIUS)) ** (2 / 3), (1.0, 0, 0)), FLOOR,
              materials=of_steel(0.5, 0.2)),
        [0.0, 0.05, 0.4],
    )  # fmt: skip
    assert motion.velocity[1, 0, 0] == pytest.approx(1.0 - 0.2 * 9.81 * 0.05, abs=1e-9)
    assert motion.velocity[2, 0, 0] == pytest.approx(5.0 / 7.0, abs=1e-4)
    assert motion.spin[2, 0, 1] * RADIUS == pytest.approx(motion.velocity[2, 0, 0], abs=2e-4)


def test_one_rebound_agrees_with_another_integrator():
    """Radau on the same law in one dimension, friction and spin left out: gravity on, between touch and parting."""
    speed, c = math.sqrt(2.0 * 0.2 * 9.81), stiffness(RADIUS)
    d = 8.0 * 0.3 / (5.0 * 0.7 * speed)

    def rate(_, y):
        depth = max(0.0, y[0])
        return [y[1], 9.81 - c * depth**1.5 * (1.0 + d * y[1]) / MASS]

    def out(_, y):
        return y[0]

    out.terminal, out.direction = True, -1
    found = solve_ivp(rate, (0.0, 0.1), [0.0, speed], "Radau", rtol=1e-11, atol=1e-14, events=out)
    motion = simulate_compliant(world(ball(0, 0, 0.3), FLOOR), [0.0, 0.5])
    assert -motion.events.approach[1] == pytest.approx(-found.y_events[0][0][1], abs=1e-8)
    assert motion.events.time[1] - motion.events.time[0] == pytest.approx(found.t_events[0][0], abs=1e-9)


SHAPES = (
    Sphere(0.15), Ellipsoid((0.1, 0.15, 0.2)), Box((0.1, 0.15, 0.2)), Capsule(0.1, 0.1), Cylinder(0.1, 0.15),
    Cone(0.1, 0.3), ConvexMesh(TETRAHEDRON),
)  # fmt: skip


@pytest.mark.parametrize("ground", ["half-space", "box"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_every_shape_bounces_and_its_energies_add_up(shape, ground):
    body = CompliantBody(
        shape=shape, material="steel", position=(0.0, 0.0, 0.45), spin=(1.0, 2.0, 3.0), contact_radius=0.1,
        inertia=(0.02, 0.03, 0.04) if isinstance(shape, ConvexMesh) else None,
    )  # fmt: skip
    slab = CompliantBody(shape=Box((1, 1, 0.1)), material="steel", position=(0, 0, -0.1), fixed=True)
    motion = simulate_compliant(
        world(body, FLOOR if ground == "half-space" else slab, materials=of_steel(0.7, 0.3, 0.01)), [0.0, 0.2, 0.4]
    )
    assert "separation" in motion.events.kind
    assert_allclose(energy(motion), energy(motion)[0], atol=1e-10)
    assert_allclose(np.linalg.norm(motion.orientation, axis=2), 1.0, atol=1e-14)


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (Ellipsoid((0.1, 0.15, 0.2)), Box((0.1, 0.15, 0.2))), (Ellipsoid((0.1, 0.15, 0.2)), Capsule(0.1, 0.1)),
        (Ellipsoid((0.1, 0.15, 0.2)), ConvexMesh(TETRAHEDRON)), (Capsule(0.1, 0.1), Cylinder(0.1, 0.15)),
        (Box((0.1, 0.15, 0.2)), Cone(0.1, 0.3)),
    ],
    ids=lambda shape: type(shape).__name__,
)  # fmt: skip
def test_curved_bodies_that_spin_into_edges_do_not_crawl(p, q):
    """Their normals turn smoothly to round-off, so steps are as long as the motion allows."""
    soft = Materials(
        materials={"rubber": Material(young_modulus=1e8, poisson_ratio=0.3)},
        pairs={("rubber", "rubber"): PairLaw(restitution=0.6, sliding_friction=0.3, rolling_resistance=0.01)},
    )
    more = {"material": "rubber", "contact_radius": 0.1, "inertia": (0.02, 0.03, 0.04)}
    first = CompliantBody(
        shape=p, orientation=(0.9, -0.4, 0.3, 0.7), velocity=(0.0, 0.0, 2.0), spin=(3.0, -2.0, 1.0), **more
    )
    second = CompliantBody(
        shape=q, orientation=(0.2, 0.5, -0.9, 0.4), position=(0.05, -0.03, 0.6), velocity=(0.0, 0.0, -1.0),
        spin=(-1.0, 2.0, 4.0), mass=2.0, **more,
    )  # fmt: skip
    motion = simulate_compliant(
        CompliantWorld(bodies=(first, second), materials=soft, gravity=(0.0, 0.0, 0.0)),
        np.linspace(0.0, 0.4, 9), CompliantSettings(max_steps=3000),
    )  # fmt: skip
    assert list(motion.events.kind[:2]) == ["contact", "separation"]
    assert_allclose(energy(motion), energy(motion)[0], rtol=0.0, atol=1e-9)


def test_ellipsoids_that_stick_have_normals_without_noise():
    """Friction that sticks is stiff in the slip, and the slip has the normal's noise times the speed of approach."""
    egg = Ellipsoid((0.05, 0.04, 0.03))
    soft = Materials(
        materials={"rubber": Material(young_modulus=1e7)},
        pairs={("rubber", "rubber"): PairLaw(restitution=0.8, sliding_friction=0.3)},
    )
    bodies = (
        CompliantBody(shape=egg, material="rubber", mass=0.5, velocity=(4.0, 0.0, 0.0)),
        CompliantBody(shape=egg, material="rubber", mass=0.5, position=(0.15, 0.007, 0.0)),
    )
    motion = simulate_compliant(CompliantWorld(bodies=bodies, materials=soft, gravity=(0, 0, 0)), [0.0, 0.06])
    assert motion.steps < 5000  # it was 9700
    assert_allclose(motion.imbalance, 0.0, atol=1e-11)


def test_a_block_flat_on_another_ends_in_an_error_soon():
    block = CompliantBody(
        shape=Box((0.1, 0.15, 0.2)), material="steel", position=(0, 0, 0.21), contact_radius=0.1, name="block"
    )
    table = CompliantBody(shape=Box((1, 1, 0.1)), material="steel", position=(0, 0, -0.1), fixed=True, name="table")
    with pytest.raises(CompliantError, match=r"of \d{4} steps refused, .*flat sides or edges of .*'block', 'table'"):
        simulate_compliant(world(block, table), [0.0, 1.0])


def test_bodies_that_start_inside_one_another_creep_apart_as_their_damping_lets_them():
    """At rest at time 0 their approach is 0, so e = 0 and d = most_damping: half of 1/d is shared by each."""
    start = world(ball(0, 0, 0), ball(0, 0, 2 * RADIUS - 0.01), gravity=(0, 0, 0), materials=of_steel(0.9))
    motion = simulate_compliant(start, [0.0, 0.1, 0.2])
    assert_allclose(motion.velocity[1:, 1, 2], 1.0 / (2.0 * 2000.0), rtol=1e-3)


def test_a_turned_and_mirrored_world_moves_alike():
    turned = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # x to y to z to x

    def run(R):
        def tuple_of(x):
            return tuple(R @ np.array(x, float))

        bodies = (
            ball(*tuple_of((-0.3, 0.0, 0.2)), velocity=tuple_of((2.0, 0.1, 0.0)), spin=tuple_of((0.0, 0.0, 5.0))),
            ball(*tuple_of((0.0, 0.03, 0.2))),
            CompliantBody(shape=HalfSpace((0, 0, 0), tuple_of((0, 0, 1))), material="steel", fixed=True),
        )
        motion = simulate_compliant(
            world(*bodies, materials=of_steel(0.6, 0.2), gravity=tuple_of((0, 0, -9.81))), [0.0, 0.3]
        )  # fmt: skip
        return motion.position[-1] @ R, motion.spin[-1] @ R

    for one, other in zip(run(np.eye(3)), run(turned)):
        assert_allclose(one[:2], other[:2], atol=1e-9)


BLOCK, PEG = Box((1, 1, 1)), CompliantBody(shape=Sphere(1), material="steel", fixed=True, position=(0, 0, 1))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: simulate_compliant(world(ball(0, 0, 1), PEG), [0, 1]), "one centre at 0 s"),
        (lambda: world(CompliantBody(shape=BLOCK, material="wood")), "material: 'wood' is not one of ..steel"),
        (lambda: CompliantBody(shape=Box((1, 1, 0)), material="steel", name="sheet"), "'sheet': .* has no inside"),
        (lambda: CompliantBody(shape=ConvexMesh(np.eye(3)), material="steel"), "without a hull of some volume"),
        (
            lambda: simulate_compliant(world(CompliantBody(shape=BLOCK, material="steel"), FLOOR), [0, 1]),
            r"bodies\[0\] and floor are both flat; give one of them a radius",
        ),
        (lambda: PairLaw(restitution=1.2), "restitution: 1.2; 0 to 1"),
        (lambda: Material(young_modulus=0.0), "young_modulus: 0.0; Pa, above 0"),
        (lambda: CompliantSettings(tolerance=0.1), "tolerance: 0.1; 1e-15 to 0.001"),
        (lambda: CompliantSettings(max_steps=1.5), "max_steps: 1.5; a whole number, at least 1"),
        (lambda: Material(young_modulus=None), "young_modulus: None; Pa, above 0"),
        (lambda: PairLaw(restitution="x"), "restitution: 'x'; 0 to 1"),
        (lambda: CompliantBody(shape=BLOCK, material="steel", mass="1"), "mass: '1' kg; above 0 and finite"),
        (lambda: CompliantBody(shape=BLOCK, material="steel", position=None), "position: None; 3 finite numbers"),
        (
            lambda: CompliantBody(shape=BLOCK, material="steel", inertia=(1, 1)),
            r"inertia: \(1, 1\) kg m\^2; three numbers",
        ),
        (
            lambda: CompliantBody(shape=BLOCK, material="steel", inertia=(1, 1, 5)),
            "none above the sum of the two others",
        ),
        (lambda: CompliantBody(shape=Sphere(-1), material="steel"), "shape: radius: -1; m, above 0"),
        (lambda: simulate_compliant(world(ball(0, 0, 1)), [0.0, 1.0, 1.0]), "times: finite and ascending from 0"),
        (
            lambda: simulate_compliant(world(ball(0, 0, 0.2), FLOOR), [0, 9], CompliantSettings(max_steps=100)),
            "max_steps: more than 100 by",
        ),
    ],
)
def test_what_cannot_be_simulated_is_named(build, message):
    with pytest.raises(CompliantError, match=message):
        build()


def test_a_pair_without_a_law_is_named_before_anything_moves():
    materials = Materials(
        materials={"steel": Material(young_modulus=1e9), "ice": Material(young_modulus=1e8)},
        pairs={("steel", "steel"): PairLaw(restitution=0.5)},
    )
    puck = CompliantBody(shape=Sphere(0.1), material="ice", position=(0, 0, 9))
    with pytest.raises(CompliantError, match="no law for 'ice' with 'steel'; there are: steel with steel"):
        simulate_compliant(world(puck, FLOOR, materials=materials), [0.0, 0.1])


@pytest.mark.parametrize(
    ("modulus", "density", "radius", "restitution"),
    [(2e11, 24.0, 0.1, 0.7), (1e10, 700.0, 0.01, 0.7), (7e10, 2500.0, 0.01, 0.7), (2e11, 7850.0, 0.003, 0.2)],
    ids=["a light ball of steel", "a bead of wood", "a marble", "a small ball of steel"],
)
def test_a_stiff_light_ball_comes_to_rest_as_deep_as_its_weight_presses_it(modulus, density, radius, restitution):
    """Its contact makes of one rounding of its height more than 1e-13 of a velocity, which no shorter step takes away;
    so it was refused every other step until it was given up."""
    mass = density * 4.0 / 3.0 * math.pi * radius**3
    stuff = Materials(
        materials={"stuff": Material(young_modulus=modulus)},
        pairs={("stuff", "stuff"): PairLaw(restitution=restitution, sliding_friction=0.3)},
    )
    ball = CompliantBody(shape=Sphere(radius), material="stuff", position=(0, 0, radius + 0.1), mass=mass)
    floor = CompliantBody(shape=HalfSpace((0, 0, 0), (0, 0, 1)), material="stuff", fixed=True)
    motion = simulate_compliant(CompliantWorld(bodies=(ball, floor), materials=stuff), [0.0, 3.0])
    c = 4.0 / 3.0 * math.sqrt(radius) * modulus / (1.0 - 0.3**2) / 2.0
    assert_allclose(-motion.contacts.gap[-1], (mass * 9.81 / c) ** (2.0 / 3.0), rtol=0.0, atol=1e-14)
    assert_allclose(motion.imbalance, 0.0, atol=1e-10 * motion.potential[0])
