"""Blocks that slide, stop, stay and land: Coulomb friction on faces."""

import math
from dataclasses import replace

import numpy as np
import pytest

from reference_engine import Body, HalfPlane, Settings, Thruster, World, box, energy, simulate
from tests.reference_engine.planar import truths
from tests.reference_engine.planar.scenes import GRAVITY, ROUND_OFF_OF_GAPS, at, downhill, flat, ground, on_grid


def test_a_thrown_box_slides_v2_over_2_mu_g_in_v_over_mu_g_and_stays():
    """Its front corner carries mg (1/2 + mu h/(2 w)): the moment of friction about the centre."""
    v, mu = 4.0, 0.3
    world = World(bodies=(ground(), flat(1.0, 0.5, velocity=(v, 0.0))), friction=mu, restitution=0.0)
    motion = simulate(world, 3.0, 0.125)
    stop = v / (mu * GRAVITY)
    assert motion.events.times("stick") == pytest.approx([stop], abs=1e-12)
    t = np.minimum(motion.time, stop)
    assert motion.pose[:, 1, 0] == pytest.approx(v * t - 0.5 * mu * GRAVITY * t * t, abs=1e-12)
    assert motion.pose[:, 1, 1] == pytest.approx(0.25, abs=ROUND_OFF_OF_GAPS)
    assert np.abs(motion.pose[:, 1, 2]).max() <= ROUND_OFF_OF_GAPS
    assert np.abs(motion.twist[motion.time > stop]).max() <= 1e-14
    contacts = motion.contacts_at(at(motion, 1.0))
    rear, front = np.argsort(contacts.point[:, 0])
    assert contacts.force[front] == pytest.approx(GRAVITY * (0.5 + mu * 0.25), rel=1e-12)
    assert contacts.force[rear] == pytest.approx(GRAVITY * (0.5 - mu * 0.25), rel=1e-12)
    along = -contacts.normal[:, 1] * contacts.friction  # on b, which is the box if the normal points up
    assert np.where(contacts.pair[:, 1] == 1, along, -along) == pytest.approx(-mu * contacts.force, rel=1e-12)
    assert motion.contacts_at(-1).friction.sum() == pytest.approx(0.0, abs=1e-12)


def test_the_energy_that_a_thrown_box_loses_is_the_work_of_friction():
    world = World(bodies=(ground(), flat(1.0, 0.5, velocity=(4.0, 0.0))), friction=0.3, restitution=0.0)
    motion = simulate(world, 2.0, 0.1)
    lost = energy(world, motion)[0] - energy(world, motion)
    assert lost == pytest.approx(0.3 * GRAVITY * motion.pose[:, 1, 0], abs=1e-12 * 8.0)


@pytest.mark.parametrize("impact_law", ["newton", "poisson"])
def test_a_flat_landing_takes_mu_times_the_speed_of_the_fall_from_the_speed_along_the_ground(impact_law):
    """e = 0, from 1 m at 4 m/s: the impulse of friction at the landing is not in v^2/(2 mu g)."""
    v, mu, height = 4.0, 0.3, 1.0
    world = World(bodies=(ground(), flat(1.0, 0.5, bottom=height, velocity=(v, 0.0))), friction=mu, restitution=0.0)
    motion = simulate(world, 2.0, 0.25, Settings(impact_law=impact_law))
    fall = math.sqrt(2.0 * height / GRAVITY)
    after = v - mu * GRAVITY * fall
    assert motion.events.times("impact") == pytest.approx([fall], rel=1e-13)
    assert motion.twist[at(motion, 0.5), 1, 0] == pytest.approx(after - mu * GRAVITY * (0.5 - fall), abs=1e-12)
    assert motion.events.times("stick") == pytest.approx([fall + after / (mu * GRAVITY)], abs=1e-11)
    assert motion.pose[-1, 1] == pytest.approx([3.01831464492015, 0.25, 0.0], abs=1e-11)
    assert motion.impacts.impulse.sum() == pytest.approx(GRAVITY * fall, rel=1e-12)
    assert np.abs(motion.impacts.friction) == pytest.approx(mu * motion.impacts.impulse, rel=1e-12)


@pytest.mark.parametrize("impact_law", ["newton", "poisson"])
def test_a_box_that_bounces_flat_loses_mu_of_all_its_normal_impulses_along_the_ground(impact_law):
    """e = 1/2: impulses (1 + e) e^k m v_n sum to (1 + e)/(1 - e) m v_n; between them it flies 2 e^k v_n/g."""
    v, mu, e, height = 4.0, 0.1, 0.5, 1.0
    world = World(bodies=(ground(), flat(1.0, 0.5, bottom=height, velocity=(v, 0.0))), friction=mu, restitution=e)
    motion = simulate(world, 5.0, 0.25, Settings(impact_law=impact_law))
    fall = math.sqrt(2.0 * height / GRAVITY)
    speed, x = v, v * fall
    for k in range(60):
        speed -= mu * (1.0 + e) * e**k * GRAVITY * fall
        x += speed * 2.0 * e ** (k + 1) * fall
    rest = fall * (1.0 + e) / (1.0 - e)
    assert motion.events.times("impact")[:3] == pytest.approx([fall, 2.0 * fall, 2.5 * fall], rel=1e-12)
    assert motion.events.times("accumulation") == pytest.approx([rest], abs=1e-9)
    assert motion.events.times("stick") == pytest.approx([rest + speed / (mu * GRAVITY)], abs=1e-8)
    assert motion.pose[-1, 1] == pytest.approx([x + speed**2 / (2.0 * mu * GRAVITY), 0.25, 0.0], abs=1e-8)
    assert motion.penetration <= ROUND_OFF_OF_GAPS


@pytest.mark.parametrize("mu", [0.11, 0.2, 1.0])
def test_below_the_friction_angle_nothing_creeps(mu):
    """Ten seconds on an incline of 0.1 rad: the round-off of the forces is all that there is."""
    slope = 0.1
    world = World(bodies=(ground(), flat(1.0, 0.5)), gravity=downhill(slope), friction=mu, restitution=0.0)
    motion = simulate(world, 10.0, 1.0)
    assert np.abs(motion.pose - motion.pose[0]).max() <= 1e-20
    assert np.abs(motion.twist).max() <= 1e-20
    contacts = motion.contacts_at(-1)
    assert np.abs(contacts.friction.sum()) == pytest.approx(GRAVITY * math.sin(slope), rel=1e-12)


def test_at_the_friction_angle_a_block_at_rest_stays_to_round_off():
    """Whether it holds or slides, its acceleration is 0; a last digit of mu makes 1e-15 m/s^2."""
    world = World(bodies=(ground(), flat(1.0, 0.5)), gravity=downhill(0.1), friction=math.tan(0.1), restitution=0.0)
    motion = simulate(world, 10.0, 1.0)
    assert np.abs(motion.pose - motion.pose[0]).max() <= 1e-13


def test_nothing_creeps_on_a_tilted_plane_either():
    """The same with a turned ground instead of turned gravity: round-off of the pose, nothing more."""
    slope = 0.1
    plane = Body(shape=HalfPlane(), fixed=True, angle=-slope)
    block = Body(shape=box(1.0, 0.5), position=(0.25 * math.sin(slope), 0.25 * math.cos(slope)), angle=-slope)
    motion = simulate(World(bodies=(plane, block), friction=0.2, restitution=0.0), 10.0, 1.0)
    assert np.abs(motion.pose - motion.pose[0]).max() <= ROUND_OFF_OF_GAPS


def test_at_the_friction_angle_a_sliding_block_keeps_its_speed():
    slope, v = 0.3, 1.5
    world = World(
        bodies=(ground(), flat(1.0, 0.5, velocity=(v, 0.0))),
        gravity=downhill(slope),
        friction=math.tan(slope),
        restitution=0.0,
    )
    motion = simulate(world, 4.0, 0.5)
    assert motion.twist[:, 1] == pytest.approx(np.tile([v, 0.0, 0.0], (len(motion.time), 1)), abs=1e-12)
    assert motion.pose[:, 1, 0] == pytest.approx(v * motion.time, abs=1e-11)


def test_above_the_friction_angle_a_block_slides_with_g_sin_minus_mu_g_cos():
    slope, mu = 0.5, 0.3
    world = World(bodies=(ground(), flat(1.0, 0.5)), gravity=downhill(slope), friction=mu, restitution=0.0)
    motion = simulate(world, 1.5, 0.25)
    a = GRAVITY * (math.sin(slope) - mu * math.cos(slope))
    assert motion.pose[:, 1, 0] == pytest.approx(0.5 * a * motion.time**2, abs=1e-12)
    assert motion.pose[-1, 1, 0] == pytest.approx(2.385493935821848, abs=1e-12)
    assert motion.pose[:, 1, 1] == pytest.approx(0.25, abs=ROUND_OFF_OF_GAPS)


def test_a_block_pushed_uphill_slows_stops_and_slides_back_or_stays():
    """v^2/(2 g (sin + mu cos)) up; then it stays where mu > tan, else it comes back with sin - mu cos."""
    slope, v = 0.3, 2.0
    for mu in (0.5, 0.2):
        world = World(
            bodies=(ground(), flat(1.0, 0.5, velocity=(-v, 0.0))),
            gravity=downhill(slope),
            friction=mu,
            restitution=0.0,
        )
        motion = simulate(world, 2.0, 0.25)
        up = GRAVITY * (math.sin(slope) + mu * math.cos(slope))
        down = max(0.0, GRAVITY * (math.sin(slope) - mu * math.cos(slope)))
        turn = v / up
        rising, after = np.minimum(motion.time, turn), np.maximum(motion.time - turn, 0.0)
        exact = -v * rising + 0.5 * up * rising**2 + 0.5 * down * after**2
        assert motion.pose[:, 1, 0] == pytest.approx(exact, abs=1e-11)


def test_a_block_on_an_incline_slips_and_tips_at_once_between_w_over_h_and_the_bound_of_tipping():
    """1 x 3 at 0.4 rad, mu = 0.35: the fourth regime. Its lower edge slides while it tips over it, until it catches

    up with the edge, which then stays: from there an inverted pendulum, p^2 = 3 g/(4 R).
    """
    slope, mu = 0.4, 0.35
    world = World(bodies=(ground(), flat(1.0, 3.0)), gravity=downhill(slope), friction=mu, restitution=0.0)
    motion = simulate(world, 1.25, 0.0625)
    start = motion.contacts_at(0)
    assert start.force.max() == pytest.approx(9.173206447886602, rel=1e-12)

    def edge_speed(t, y):  # 0 at the start, then downhill
        c, s = math.cos(y[1]), math.sin(y[1])
        return y[2] - 0.5 * (s + 3.0 * c) * y[3] if t > 0.01 else 1.0

    rate = truths.tipping_and_slipping_rate(1.0, 3.0, slope, mu)
    _, stop, caught = truths.integrate(rate, (0.0, 0.0, 0.0, 0.0), 1.0, until=edge_speed)
    assert motion.events.times("stick") == pytest.approx([stop], abs=1e-9)
    sliding = on_grid(motion, 0.0625, stop)
    exact, _, _ = truths.integrate(rate, (0.0, 0.0, 0.0, 0.0), stop, motion.time[sliding])
    assert motion.pose[sliding, 1, 0] == pytest.approx(exact[:, 0], abs=1e-10)
    assert -motion.pose[sliding, 1, 2] == pytest.approx(exact[:, 1], abs=1e-10)
    lean = slope - math.atan2(1.0, 3.0)
    p2 = 0.75 * GRAVITY / math.hypot(0.5, 1.5)
    later = on_grid(motion, 0.0625, 1.25)[len(sliding) :]
    exact, _, _ = truths.integrate(
        lambda t, y: (y[1], p2 * math.sin(lean + y[0])), caught[[1, 3]], 1.25 - stop, motion.time[later] - stop
    )
    assert -motion.pose[later, 1, 2] == pytest.approx(exact[:, 0], abs=1e-9)
    assert motion.penetration <= ROUND_OFF_OF_GAPS


def test_a_tall_block_on_a_rough_incline_tips_over_an_edge_that_stays():
    """mu = 0.6: about the edge an inverted pendulum, p^2 = 3 g/(4 R), from the slope less atan(w/h)."""
    slope, mu = 0.4, 0.6
    world = World(bodies=(ground(), flat(1.0, 3.0)), gravity=downhill(slope), friction=mu, restitution=0.0)
    motion = simulate(world, 1.0, 0.125)
    half = math.hypot(0.5, 1.5)
    alpha = math.atan2(1.0, 3.0)
    tipped = truths.toppling(motion.time, slope - alpha, math.sqrt(0.75 * GRAVITY / half)) - (slope - alpha)
    assert -motion.pose[:, 1, 2] == pytest.approx(tipped, abs=1e-11)
    assert motion.pose[:, 1, 0] == pytest.approx(0.5 + half * np.sin(tipped - alpha), abs=1e-11)
    assert motion.contacts_at(0).force.sum() == pytest.approx(0.9396005464721151 * GRAVITY, rel=1e-12)


def test_the_static_coefficient_holds_and_the_sliding_one_brakes():
    """On an incline between the two angles: what stands stays, what slides goes on sliding."""
    slope = 0.35
    gravity = downhill(slope)
    for v in (0.0, 0.3):
        world = World(
            bodies=(ground(), flat(1.0, 0.5, velocity=(v, 0.0))),
            gravity=gravity,
            friction=0.3,
            static_friction=0.5,
            restitution=0.0,
        )
        motion = simulate(world, 2.0, 0.5)
        a = GRAVITY * (math.sin(slope) - 0.3 * math.cos(slope)) if v else 0.0
        assert motion.pose[:, 1, 0] == pytest.approx(v * motion.time + 0.5 * a * motion.time**2, abs=1e-12)


def test_a_box_on_a_sliding_plank_has_the_friction_of_its_own_pair():
    """A plank thrown under a resting box: they reach a common speed at m_2 v/(m_1 + m_2) without the ground's help."""
    plank = Body(shape=box(4.0, 0.2), position=(0.0, 0.1), velocity=(2.0, 0.0), mass=3.0)
    rider = Body(shape=box(0.4, 0.2), position=(1.0, 0.3), mass=1.0)
    friction = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.25], [0.0, 0.25, 0.0]])
    world = World(bodies=(ground(), plank, rider), friction=friction, restitution=0.0)
    motion = simulate(world, 2.0, 0.25)
    common = 2.0 * 3.0 / 4.0
    together = 2.0 / (0.25 * GRAVITY * (1.0 + 1.0 / 3.0))
    assert motion.events.times("stick") == pytest.approx([together], abs=1e-12)
    late = motion.time > together
    assert motion.twist[late, 1:, 0] == pytest.approx(common, abs=1e-12)
    t = np.minimum(motion.time, together)
    after = np.maximum(motion.time - together, 0.0)
    assert motion.pose[:, 2, 0] - 1.0 == pytest.approx(0.125 * GRAVITY * t * t + common * after, abs=1e-11)


@pytest.mark.parametrize("beyond", [1.5, 1.001, 1.0 + 1e-5])
@pytest.mark.parametrize("w", [0.7, 5.0, 40.0])
def test_a_block_slips_once_each_half_period_of_a_push_that_grows_and_falls_beyond_friction(w, beyond):
    """F sin(w t), F a little above mu m g: as two forces that turn to either side. While the block sticks nothing
    moves, and no error of a step shows how the force changes; of the third push a slip is as short as 0.009 rad."""
    mu, duration = 0.3, 20.0 / w
    half = 0.5 * beyond * mu * GRAVITY
    pushes = [Thruster(body=1, point=(0.0, 0.0), force=(0.0, way), turn_rate=-w * way / half, turns=False)
              for way in (-half, half)]  # fmt: skip
    world = World(bodies=(ground(), flat(1.0, 0.2)), forces=tuple(pushes), friction=mu, restitution=0.0)
    motion = simulate(world, duration, duration / 100)
    first = math.asin(1.0 / beyond) / w
    exact = first + math.pi / w * np.arange(7)
    slope = (
        mu * GRAVITY * w * math.sqrt(beyond * beyond - 1.0)
    )  # m/s^3: a contact is let go 2e-10 m/s^2 beyond its cone
    assert motion.events.times("slip") == pytest.approx(exact[exact < duration], abs=3e-10 / slope + 1e-11)


def test_what_a_force_does_that_jumps_begins_at_its_jump_and_no_sample_has_it_before():
    """mu m g / 2 up to 0.5 s, twice that up to 1 s, then as before: rest, slip at mu g, and to a stand in as long."""
    mu, mass = 0.4, 1.0 * 0.2
    push = Thruster(body=1, point=(0.0, 0.0), force=(mu * mass * GRAVITY, 0.0), turns=False,
                    profile=((0.5, 0.5), (0.5, 2.0), (1.0, 2.0), (1.0, 0.0)))  # fmt: skip
    body = replace(flat(1.0, 0.2), mass=mass)
    world = World(bodies=(ground(), body), forces=(push,), friction=mu, restitution=0.0)
    motion = simulate(world, 2.0, 0.0625)
    assert motion.events.times("slip") == pytest.approx([0.5], abs=1e-12)
    assert motion.events.times("stick") == pytest.approx([1.5], abs=1e-9)
    t = np.clip(motion.time, 0.5, 1.5) - 0.5
    way = np.where(t < 0.5, 0.5 * t**2, 0.25 - 0.5 * (1.0 - t) ** 2)
    assert motion.pose[:, 1, 0] == pytest.approx(mu * GRAVITY * way, abs=1e-11)
    friction = np.add.reduceat(motion.contacts.friction, motion.first_contact[:-1])
    assert friction[motion.time <= 0.5] == pytest.approx(0.5 * mu * mass * GRAVITY, abs=1e-11)  # towards -x
