"""One ellipsoid in motion, against what is known exactly."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from reference_engine import (
    EllipsoidWorld,
    HalfSpace,
    SpatialSettings,
    SpatialWorldError,
    SphereInterior,
    UnresolvedStepError,
    ellipsoid_energy,
    simulate_ellipsoids,
)

G = 9.81
FLOOR = (HalfSpace(),)


def ball(**given):
    return EllipsoidWorld([[0.1, 0.1, 0.1]], given.pop("position", [[0.0, 0.0, 0.1]]), **given)


@pytest.mark.parametrize("edges", [0, 4])
def test_a_thrown_sphere_never_falls_through_and_rolls_at_five_sevenths_of_its_speed(edges):
    """Slide, then roll: v = 5/7 v0, whatever friction and step are (the case that Oltman & Hur 2017 could not solve).

    The pyramid is crossed along one of its corners, so that it is the cone there.
    """
    rng = np.random.default_rng(3)
    for _ in range(12):
        v, mu, dt = rng.uniform(0.1, 10.0), rng.uniform(0.05, 1.0), 10.0 ** rng.uniform(-3.0, -1.3)
        steps = min(150, int(2.0 / 7.0 * v / (mu * G * dt)) + 3)
        direction = (1.0, 0.0, 0.0)
        world = ball(velocity=np.array([direction]) * v, containers=FLOOR, friction=mu)
        motion = simulate_ellipsoids(world, (steps + 0.5) * dt, dt, settings=SpatialSettings(edges=edges))
        assert motion.position[:, 0, 2].min() >= 0.1
        if steps < 150:
            assert motion.velocity[-1, 0, 0] == pytest.approx(5.0 / 7.0 * v, rel=1e-12)
            assert motion.spin[-1, 0, 1] == pytest.approx(50.0 / 7.0 * v, rel=1e-12)


def test_without_friction_it_slides_on():
    motion = simulate_ellipsoids(ball(velocity=[[3.0, 0.0, 0.0]], containers=FLOOR), 0.5, 0.01)
    assert motion.velocity[-1, 0, 0] == 3.0 and not motion.spin[-1].any()


def test_free_flight_is_a_parabola_and_keeps_its_spin_momentum():
    world = EllipsoidWorld([[0.3, 0.2, 0.1]], [[0.0, 0.0, 0.0]], velocity=[[1.0, 2.0, 3.0]], spin=[[3.0, 1.0, 2.0]])
    motion = simulate_ellipsoids(world, 1.0, 0.01, sample_every=100)
    assert motion.position[-1, 0] == pytest.approx([1.0, 2.0, 3.0 - 0.5 * G], abs=1e-12)


THIN = (0.02, 0.02, 0.8)


def rod(spin):
    """Of 1 kg, without gravity: it turns about its axis by `spin`, rad/s, and by 5 across it."""
    return EllipsoidWorld([THIN], [[0.0, 0.0, 1.0]], spin=[[5.0, 0.0, spin]], gravity=(0.0, 0.0, 0.0))


def test_a_rod_that_turns_seven_times_in_a_step_goes_round_as_a_symmetric_top_does():
    """Its axis goes round its momentum by L / I, whatever its own spin: to what steps of 0.7 rad leave."""
    world = rod(2640.0)
    across, along = world.inertia[0, 0], world.inertia[0, 2]
    momentum = np.array([5.0 * across, 0.0, 2640.0 * along])
    motion = simulate_ellipsoids(world, 0.5, 1.0 / 60.0)
    w, x, y, z = motion.orientation[-1, 0]
    turned = Rotation.from_rotvec(momentum / across * motion.time[-1])
    axis = Rotation.from_quat([x, y, z, w]).apply((0.0, 0.0, 1.0))
    assert axis == pytest.approx(turned.apply((0.0, 0.0, 1.0)), abs=0.06)
    assert ellipsoid_energy(world, motion) == pytest.approx(ellipsoid_energy(world, motion)[0], rel=1e-4)


@pytest.mark.parametrize("across", [5.0, 25.0])
def test_a_rod_that_turns_fast_strikes_the_ground_and_gains_no_energy(across):
    """Nothing is lost in the bounce, and friction takes. Steps of 44 rad made 6 % and 50 % more, or did not end."""
    half = 0.4
    orientation = [[math.cos(half), math.sin(half), 0.0, 0.0]]
    spin = Rotation.from_rotvec([2.0 * half, 0.0, 0.0]).apply([[across, 0.0, 2640.0]])
    world = EllipsoidWorld(
        [THIN], [[0.0, 0.0, 1.0]], orientation=orientation, spin=spin, velocity=[[10.0, 0.0, -20.0]],
        containers=FLOOR, friction=0.5, restitution=1.0,
    )  # fmt: skip
    settings = SpatialSettings(located=True, gap_tolerance=1e-9)
    energy = ellipsoid_energy(world, simulate_ellipsoids(world, 1.0, 1.0 / 60.0, settings=settings))
    assert energy.max() <= energy[0] * (1.0 + 1e-9)


def test_a_step_of_a_thousand_turns_is_refused():
    world = rod(1e7)
    with pytest.raises(UnresolvedStepError, match=r"a body turns by 1e\+05 rad in a step of 0.01 s; at most 4096"):
        simulate_ellipsoids(world, 0.1, 0.01)


# A free body with moments (1, 2, 3) and the spin (1, 1, 1), unturned at the start: turned so after 10 s. Converged.
TUMBLED = np.array([0.46254544055464282, -0.314335145144605516, 0.049431629279299837, 0.827527548484413679])


def tumble(dt):
    world = EllipsoidWorld(
        [[0.3, 0.2, 0.1]], [[0.0, 0.0, 0.0]], inertia=[[1.0, 2.0, 3.0]], spin=[[1.0, 1.0, 1.0]], gravity=(0.0, 0.0, 0.0)
    )
    return world, simulate_ellipsoids(world, 10.0, dt, sample_every=round(10.0 / dt))


def test_tumbling_is_of_second_order_and_keeps_energy_over_a_period():
    errors = []
    for dt in (0.02, 0.01):
        world, motion = tumble(dt)
        errors.append(np.abs(motion.orientation[-1, 0] - TUMBLED).max())
        energy = ellipsoid_energy(world, motion)
        assert energy[-1] == pytest.approx(energy[0], rel=1e-3 * (dt / 0.02) ** 2)
        assert np.linalg.norm(motion.orientation[-1, 0]) == pytest.approx(1.0, abs=1e-15)
    assert errors[0] < 5e-4
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_a_fast_flip_about_the_middle_axis_keeps_the_angular_momentum():
    """Dzhanibekov: L is kept to round-off though the body turns over."""
    inertia = np.array([1.0, 2.0, 3.0])
    world = EllipsoidWorld(
        [[0.3, 0.2, 0.1]], [[0.0, 0.0, 0.0]], inertia=[inertia], spin=[[0.01, 10.0, 0.01]], gravity=(0.0, 0.0, 0.0)
    )
    motion = simulate_ellipsoids(world, 4.0, 0.005, sample_every=100)
    for q, spin in zip(motion.orientation[:, 0], motion.spin[:, 0]):
        R = Rotation.from_quat(np.roll(q, -1)).as_matrix()
        assert R @ (inertia * (R.T @ spin)) == pytest.approx(inertia * (0.01, 10.0, 0.01), abs=1e-9)
    assert motion.spin[:, 0].min() < 9.0


@pytest.mark.parametrize("e", [0.5, 1.0])
def test_a_bounce_gives_back_restitution_times_the_speed(e):
    """To within what gravity gives in a step; never more."""
    dt = 1e-3
    world = ball(position=[[0.0, 0.0, 0.6]], containers=FLOOR, restitution=e)
    motion = simulate_ellipsoids(world, 0.34, dt)
    arrival = np.sqrt(2.0 * G * 0.5)
    k = int(np.argmax(motion.velocity[:, 0, 2] > 0.0))
    assert motion.velocity[k, 0, 2] == pytest.approx(e * arrival, abs=2.0 * G * dt)
    assert motion.velocity[k, 0, 2] <= e * arrival


def rocking_period(friction, dt, amplitude=0.5):
    """The second time that a tilted ellipsoid on a plane is at its largest tilt, in x-z; axes .3, .2, .1."""
    a, c = 0.3, 0.1
    height = np.hypot(a * np.sin(amplitude), c * np.cos(amplitude))
    q = (np.cos(amplitude / 2), 0.0, np.sin(amplitude / 2), 0.0)
    world = EllipsoidWorld([[a, 0.2, c]], [[0.0, 0.0, height]], orientation=[q], containers=FLOOR, friction=friction)
    settings = SpatialSettings(gap_tolerance=1e-9)
    motion = simulate_ellipsoids(world, 0.5, dt, settings=settings)
    spin = motion.spin[:, 0, 1]
    turns = [
        motion.time[k] + dt * spin[k] / (spin[k] - spin[k + 1])
        for k in range(2, len(spin) - 1)
        if spin[k] * spin[k + 1] < 0.0
    ]
    return 2.0 * turns[0]


@pytest.mark.parametrize("friction,exact", [(2.0, 0.7628247763241492), (0.0, 0.6432928073036056)])
def test_an_ellipsoid_rocks_with_its_exact_period(friction, exact):
    """Quadrature of the energy, rolling and without friction; of second order though it is in contact all the time."""
    coarse, fine = (abs(rocking_period(friction, dt) - exact) for dt in (0.008, 0.004))
    assert fine < 3e-4
    assert coarse / fine == pytest.approx(4.0, abs=0.1)


def test_a_long_ellipsoid_that_lies_level_in_a_bowl_stays():
    """It touches at two points 0.632 below the middle; with one of them it would turn."""
    world = EllipsoidWorld(
        [[0.6, 0.1, 0.2]], [[0.0, 0.0, -(0.4**0.5) + 1e-4]], containers=(SphereInterior(0.9),), friction=0.4
    )
    motion = simulate_ellipsoids(world, 0.2, 0.005, settings=SpatialSettings(gap_tolerance=1e-9))
    assert np.abs(motion.spin[-1]).max() < 1e-8
    assert motion.position[-1, 0, 2] == pytest.approx(-(0.4**0.5), abs=1e-8)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"mass": -1.0}, r"mass\[0\]: -1"),
        ({"inertia": [[1.0, 1.0, 9.0]]}, r"inertia\[0\]: \[1\.0, 1\.0, 9\.0\]; none of three is more"),
        ({"orientation": [[1e-200, 0.0, 0.0, 0.0]]}, r"orientation\[0\]"),
        ({"position": [[1e200, 0.0, 0.0]]}, r"position\[0, 0\]: 1e\+200"),
        ({"fixed": "no"}, "fixed: 'no'; True or False"),
        ({"containers": HalfSpace()}, "containers: HalfSpace"),
        ({"restitution": 1.5}, r"restitution: 1\.5"),
        ({"friction": "a"}, "friction: 'a'; numbers"),
        ({"material": [3], "friction": [[0.1, 0.2], [0.2, 0.3]]}, "material"),
        ({"material": [0.7]}, r"material: \[0\.7\]; whole numbers"),
        ({"force": 3}, "force: 3; a function"),
    ],
)
def test_a_world_that_cannot_be_is_refused_by_name(wrong, words):
    with pytest.raises(SpatialWorldError, match=words):
        ball(**wrong)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"edges": 5}, "edges: 5"),
        ({"edges": 6.0}, r"edges: 6\.0; a whole number"),
        ({"most_sweeps": 1.5}, r"most_sweeps: 1\.5; a whole number"),
        ({"located": "yes"}, "located: 'yes'; True or False"),
        ({"skin": "a"}, "skin: 'a'; a number"),
    ],
)
def test_settings_that_cannot_be_are_refused_by_name(wrong, words):
    with pytest.raises(SpatialWorldError, match=words):
        SpatialSettings(**wrong)


def test_a_start_in_the_ground_and_a_step_without_length_are_refused():
    with pytest.raises(SpatialWorldError, match=r"overlap by 0\.01 m"):
        simulate_ellipsoids(ball(position=[[0.0, 0.0, 0.09]], containers=FLOOR), 0.1, 0.01)
    for dt in (0.0, None, "a"):
        with pytest.raises(SpatialWorldError, match="dt: "):
            simulate_ellipsoids(ball(), 1.0, dt)
    with pytest.raises(SpatialWorldError, match="gap_tolerance: 5"):
        simulate_ellipsoids(ball(), 1.0, 0.01, settings=SpatialSettings(gap_tolerance=5.0))
    with pytest.raises(SpatialWorldError, match=r"HalfSpace\.normal: .* has no direction"):
        HalfSpace(normal=(0.0, 0.0, 1e-200))


def test_a_skin_thinner_than_what_counts_as_near_is_as_wide_as_that():
    """A list that is made anew would else not be good for a moment."""
    motion = simulate_ellipsoids(ball(containers=FLOOR), 0.1, 0.01, settings=SpatialSettings(skin=1e-6))
    assert motion.position[-1, 0] == pytest.approx(
        simulate_ellipsoids(ball(containers=FLOOR), 0.1, 0.01).position[-1, 0], abs=1e-12
    )
