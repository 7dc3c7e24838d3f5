"""Flights and impacts at one contact: parabolas, free turning, spheres that strike aslant, and what flights are not."""

import math

import numpy as np
import pytest
from pytest import approx

from reference_engine import FlightError, Flyer, impact, inverse_mass, simulate_flights

UP = np.array([0.0, 0.0, 1.0])
FLOOR = (np.zeros(3), UP)
CUBE = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


def sphere(**given):
    mass, radius = given.pop("mass", 1.0), given.pop("radius", 0.1)
    still = {"orientation": (1.0, 0.0, 0.0, 0.0), "velocity": np.zeros(3), "spin": np.zeros(3)}
    inertia = np.full(3, 0.4 * mass * radius**2)
    return Flyer(points=np.zeros((1, 3)), radius=radius, mass=mass, inertia=inertia, **still | given)


def solid(**given):
    still = {"orientation": (1.0, 0.0, 0.0, 0.0), "velocity": np.zeros(3), "spin": np.zeros(3)}
    return Flyer(points=CUBE, radius=0.0, mass=1.0, **{"inertia": np.full(3, 1.0 / 6.0)} | still | given)


def law_of_pairs(friction, restitution):
    return lambda i, j: (friction, restitution)


def test_a_ball_bounces_at_the_times_of_a_geometric_series():
    body = sphere(position=(0.0, 0.0, 1.1))
    motion = simulate_flights((body,), (FLOOR,), [2.5], gravity=-9.81 * UP, law="stronge", pair=law_of_pairs(0.3, 0.8))
    first = math.sqrt(2.0 / 9.81)
    exact = [first * (1.0 + 2.0 * sum(0.8**k for k in range(1, n))) for n in range(1, len(motion.impacts) + 1)]
    assert len(exact) == 4
    assert [strike.time for strike in motion.impacts] == approx(exact, abs=1e-13)


def test_a_body_that_tumbles_is_where_jacobi_s_functions_have_it():
    """I = (1, 2, 3), from (1, 1, 1) rad/s: attitude and spin after 10 s, integrated with 27 digits."""
    body = Flyer(
        points=0.1 * CUBE, radius=0.0, mass=1.0, inertia=(1.0, 2.0, 3.0), position=(0.0, 0.0, 1.0),
        orientation=(1.0, 0.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.0), spin=(1.0, 1.0, 1.0),
    )  # fmt: skip
    motion = simulate_flights((body,), (FLOOR,), [10.0], gravity=np.zeros(3), law="newton", pair=law_of_pairs(0.0, 1.0))
    q = (0.46254544055464282, -0.314335145144605516, 0.049429631279299837, 0.827527548484413679)
    assert motion.orientation[-1, 0] == approx(q, abs=1e-11)
    w, u = q[0], np.array(q[1:])
    own = np.array((-0.603470423092518129, -1.27899313854787241, 0.887726788215733043))
    assert motion.spin[-1, 0] == approx(own + 2.0 * np.cross(u, np.cross(u, own) + w * own), abs=1e-11)


@pytest.mark.parametrize("law", ["newton", "poisson", "stronge"])
@pytest.mark.parametrize("friction", [0.05, 0.3])
def test_two_spheres_strike_aslant_and_grip_or_slide(law, friction):
    """Normal impulse (1 + e) M |v_n|; tangential (2/7) M |u_t| where that is inside the cone, else mu times the normal.

    Masses 1 and 2, radii 0.1 and 0.2, e = 0.8: it sticks from mu = 0.08392176977205 on.
    """
    n = np.array([2.0, 2.0, 1.0]) / 3.0  # from the first to the second
    one = sphere(position=-0.1 * n - 0.1 * np.array([3.0, 1.0, 0.0]), velocity=(2.0, 1.0, 0.0), spin=(0.0, 5.0, 10.0))
    other = sphere(mass=2.0, radius=0.2, position=0.2 * n, velocity=(-1.0, 0.0, 0.0), spin=(3.0, 0.0, -2.0))
    motion = simulate_flights((one, other), (), [0.2], gravity=np.zeros(3), law=law, pair=law_of_pairs(friction, 0.8))
    (strike,) = motion.impacts
    assert strike.time == approx(0.1, abs=1e-14)
    if friction == 0.3:
        first = (-0.321693121693122, -1.02328042328042, -0.91005291005291)
        second = (0.160846560846561, 1.01164021164021, 0.455026455026455)
        spins = [
            (1.69312169312169, 0.82010582010582, 14.973544973545),
            (3.42328042328042, -1.04497354497354, -0.756613756613757),
        ]
    else:
        first = (-0.245556770036, -1.06776458379919, -0.973357292329618)
        second = (0.122778385018, 1.0338822918996, 0.486678646164809)
        spins = [
            (1.00874999283296, 2.50964845519363, 12.9632031039468),
            (3.25218749820824, -0.622587886201592, -1.2591992240133),
        ]
    assert motion.velocity[-1] == approx(np.array([first, second]), abs=1e-10)
    assert motion.spin[-1] == approx(np.array(spins), abs=1e-9)


def test_a_corner_that_strikes_gets_the_impulse_of_the_law():
    q = np.array([0.8, 0.4, -0.2, 0.4])
    body = solid(position=(0.0, 0.0, 2.0), orientation=q, velocity=(1.5, 0.8, -2.0), inertia=(0.1, 0.2, 0.25))
    motion = simulate_flights((body,), (FLOOR,), [1.0], gravity=np.zeros(3), law="poisson", pair=law_of_pairs(0.3, 0.5))
    (strike,) = motion.impacts
    e = np.eye(3)
    R = (e + 2.0 * np.cross(q[1:], np.cross(q[1:], e) + q[0] * e)).T
    arms = CUBE @ R.T
    arm = arms[np.argmin(arms[:, 2])]
    assert strike.time == approx((2.0 + arm[2]) / 2.0, abs=1e-14)
    K = inverse_mass(1.0, (R * (0.1, 0.2, 0.25)) @ R.T, arm)
    found = impact(K, (1.5, 0.8, -2.0), friction=0.3, restitution=0.5, law="poisson")
    assert strike.impulse == approx(found.impulse, abs=1e-13)
    assert motion.velocity[-1, 0] == approx(np.array([1.5, 0.8, -2.0]) + found.impulse, abs=1e-13)


@pytest.mark.parametrize(
    ("given", "restitution", "why"),
    [
        ({"velocity": (0.0, 0.0, -1.0)}, 0.5, "4 contacts are struck at once"),
        ({"orientation": (0.8, 0.4, -0.2, 0.4), "velocity": (0.0, 0.0, -1.0)}, 0.0, "stay in contact after the impact"),
        ({"position": (0.0, 0.0, 0.5)}, 0.5, "bodies that touch do not part"),
    ],
)
def test_what_is_no_flight_is_an_error_that_says_when_and_why(given, restitution, why):
    body = solid(**{"position": (0.0, 0.0, 1.5)} | given)
    with pytest.raises(FlightError, match=rf"t = .* s: .*{why}"):
        simulate_flights(
            (body,), (FLOOR,), [3.0], gravity=-9.81 * UP, law="newton", pair=law_of_pairs(0.3, restitution)
        )


def test_bounces_that_grow_short_end_in_an_error():
    body = sphere(position=(0.0, 0.0, 1.1))
    with pytest.raises(FlightError, match=r"it comes to rest|do not part|stay in contact"):
        simulate_flights((body,), (FLOOR,), [9.0], gravity=-9.81 * UP, law="newton", pair=law_of_pairs(0.0, 0.5))


def test_a_cube_that_lands_flat_leaves_flat_and_one_by_one_as_an_order_says():
    body = solid(position=(0.0, 0.0, 1.5), velocity=(0.3, 0.0, -1.0))
    for law, order in (("at-once-newton", "simultaneous"), ("at-once-poisson", "grouped")):
        motion = simulate_flights(
            (body,), (FLOOR,), [2.0], gravity=np.zeros(3), law=law, pair=law_of_pairs(0.0, 0.5), order=order
        )
        assert motion.impacts[0].time == approx(1.0, abs=1e-14)
        assert sum(strike.impulse for strike in motion.impacts) == approx(np.array([0.0, 0.0, 1.5]), abs=1e-12)
        assert motion.velocity[-1, 0] == approx(np.array([0.3, 0.0, 0.5]), abs=1e-12)
        assert motion.spin[-1] == approx(np.zeros((1, 3)), abs=1e-11)
    with pytest.raises(ValueError, match="law: 'stronge' is not one of at-once-newton, at-once-poisson"):
        simulate_flights((body,), (FLOOR,), [1.0], gravity=UP, law="stronge", pair=law_of_pairs(0, 0), order="grouped")


def test_bodies_that_do_not_move_one_another_need_no_order():
    balls = tuple(sphere(position=(x, 0.0, 0.6)) for x in (0.0, 1.0, 2.0))
    motion = simulate_flights(balls, (FLOOR,), [0.6], gravity=-9.81 * UP, law="stronge", pair=law_of_pairs(0.3, 0.8))
    assert len(motion.impacts) == 3
    assert np.ptp(motion.position[-1, :, 2]) < 1e-14
