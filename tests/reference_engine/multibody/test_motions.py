"""Mechanisms move as closed forms and independent solutions say, by both ways of holding their joints."""

import importlib.util
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

from reference_engine.errors import JointError, MechanismError
from reference_engine.multibody.joints import Coupling, Distance, ball, revolute
from reference_engine.multibody.links import Link
from reference_engine.multibody.mechanism import LinkSpring, Mechanism
from reference_engine.multibody.simulate import simulate_mechanism
from reference_engine.rotation import matrices_by_direction
from tests.effort import few
from tests.reference_engine.multibody.classics import four_bar, pendulum_chain, slider_crank

ROOT = Path(__file__).parents[3]
WAYS = ("accelerations", "impulses")
DATA = ROOT / "ci" / "benchmarks" / "data" / "joints"
G = 9.81


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("joints_benchmark", ROOT / "ci" / "benchmarks" / "joints.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("name",), few(1, [("double_pendulum_rods_mild",), ("andrews_squeezing_mechanism",)]))
def test_recorded_mechanisms_are_hit(benchmark, name):
    """States over 10 s to 1e-9, Andrews' published angles to 1e-8, gaps to 1e-10, energy to 1e-8 of its scale."""
    found = list(benchmark.comparisons(json.loads((DATA / f"{name}.json").read_text()))["accelerations"]())
    assert len(found) >= 2
    assert [one for one in found if not one.hit] == []


@pytest.mark.slow
def test_recorded_mechanisms_are_hit_by_both_ways(benchmark, capsys):
    """With the pendulum's period to 1e-10."""
    assert benchmark.main([str(DATA)]) == 0, capsys.readouterr().out
    told = capsys.readouterr().out
    assert "MISS" not in told
    assert told.count("period") == 2


@pytest.mark.parametrize("hold", WAYS)
def test_a_pendulum_let_go_level_is_at_its_lowest_point_after_a_quarter_of_its_period(hold):
    """T = 4 sqrt(L/g) K(1/2): the period by Jacobi."""
    period = 4.0 * math.sqrt(1.0 / G) * float(ellipk(0.5))
    motion = simulate_mechanism(pendulum_chain((1.0,), (1.0,), (-math.pi / 2,), rods=False), [0.25 * period], hold=hold)
    assert abs(motion.position[0, 0, 0] / motion.velocity[0, 0, 0]) < 1e-11  # s, a quarter of the period is off by


@pytest.mark.parametrize("hold", WAYS)
def test_a_tumbling_body_follows_jacobi(hold):
    """Moments 1, 2, 3, spin (0.01, 1, 0.01): spins by Jacobi's functions, attitude by an integration in 27 digits."""
    body = Link(position=(0.0, 0.0, 0.0), inertia=(1.0, 2.0, 3.0), spin=(0.01, 1.0, 0.01))
    motion = simulate_mechanism(Mechanism(links=(body,), gravity=(0.0, 0.0, 0.0)), [10.0], hold=hold)
    q = motion.orientation[0, 0]
    assert matrices_by_direction(q[None])[0].T @ motion.spin[0, 0] == pytest.approx(
        [-0.874573437891093646, 0.48499618734104845, 0.505001220547913341], abs=1e-11
    )
    exact = np.array([0.242702990919572282, 0.118144126725445916, -0.822720146747211752, -0.500268711449379124])
    assert q * np.sign(q @ exact) == pytest.approx(exact, abs=1e-11)


@pytest.mark.parametrize(("hold",), few(1, [(hold,) for hold in WAYS]))
def test_the_cusped_top_nods_and_goes_round_as_its_integrals_say(hold):
    """A = 1 at the pivot, C = 1/2, m g l = 2, spin 6 from rest at 0.6 rad: after the period of nutation the axis is at
    0.6 rad again, turned by the precession of one nutation."""
    arm, tilt = 0.5, 0.6
    axis = np.array([math.sin(tilt), 0.0, math.cos(tilt)])
    top = Link(position=arm * axis, inertia=(0.75, 0.75, 0.5), spin=6.0 * axis,
               orientation=(math.cos(tilt / 2), 0.0, math.sin(tilt / 2), 0.0))  # fmt: skip
    mechanism = Mechanism(
        links=(top,), joints=(ball(-1, 0, second_point=(0.0, 0.0, -arm)),), gravity=(0.0, 0.0, -2.0 / arm)
    )
    motion = simulate_mechanism(mechanism, [2.996929367630171 / 2, 2.996929367630171], hold=hold)
    low, again = motion.position[:, 0] / arm
    assert low[2] == pytest.approx(0.4857661879615379, abs=1e-11)
    turned = 2.28901790372515
    assert again == pytest.approx(
        [math.sin(tilt) * math.cos(turned), math.sin(tilt) * math.sin(turned), math.cos(tilt)], abs=1e-11
    )


@pytest.mark.parametrize("hold", WAYS)
def test_a_ball_that_slides_in_a_hollow_sphere_is_a_spherical_pendulum(hold):
    """At the radius R - r = 1.75, thrown level from 1 rad: the height has its period, by Jacobi."""
    L = 1.75
    ball_ = Link(position=(L * math.sin(1.0), 0.0, -L * math.cos(1.0)), velocity=(0.0, L, 0.0))
    mechanism = Mechanism(links=(ball_,), joints=(Distance(first=-1, second=0, length=L),))
    period = 1.418838014569386
    motion = simulate_mechanism(mechanism, [period], hold=hold)
    assert motion.position[0, 0, 2] == pytest.approx(-L * math.cos(1.0), abs=1e-11)
    assert motion.velocity[0, 0, 2] == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize(("hold",), few(1, [(hold,) for hold in WAYS]))
def test_a_four_bar_keeps_its_energy_in_space_too_where_three_rows_are_redundant(hold):
    lengths, masses = (1.0, 2.0, 2.0, 2.5), (1.0, 2.0, 2.0)
    flat = simulate_mechanism(four_bar(lengths, masses=masses, angle=1.0, spin=3.0), [0.0, 0.2, 0.4], hold=hold)
    solid = simulate_mechanism(
        four_bar(lengths, masses=masses, angle=1.0, spin=3.0, spatial=True), [0.0, 0.2, 0.4], hold=hold
    )
    scale = 0.5 * 5.0 * (np.abs(flat.velocity).max() ** 2) + 5.0 * G * np.ptp(flat.position[..., 1])
    assert np.ptp(flat.energy) < 1e-11 * scale
    assert np.ptp(solid.energy) < 1e-11 * scale
    assert solid.position[:, :, [0, 2]] == pytest.approx(flat.position, abs=1e-11)
    assert solid.position[:, :, 1] == pytest.approx(0.0, abs=1e-13)
    assert max(flat.joint_gap.max(), solid.joint_gap.max()) < 1e-14
    assert np.isfinite(solid.reaction).all()


@pytest.mark.parametrize(("hold",), few(1, [(hold,) for hold in WAYS]))
def test_a_parallelogram_goes_on_through_the_position_in_which_it_lies_flat(hold):
    """Three rods of 1 m and 1 kg, 1 m/s at the top: 5/6 w^2 + 2 g sin(th) is kept, and the coupler stays level."""
    exact = solve_ivp(lambda t, y: [y[1], -1.2 * G * math.cos(y[0])], (0.0, 1.2), (math.pi / 2, -1.0),
                      method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]  # fmt: skip
    linkage = four_bar((1.0, 1.0, 1.0, 1.0), masses=(1.0, 1.0, 1.0), angle=math.pi / 2, spin=-1.0)
    motion = simulate_mechanism(linkage, [0.9, 1.2], hold=hold)
    assert exact[0] < -1.0  # it has passed
    assert [motion.orientation[1, 0], motion.spin[1, 0]] == pytest.approx(exact, abs=1e-10)
    assert motion.orientation[1] == pytest.approx([exact[0], 0.0, exact[0]], abs=1e-10)


def test_a_pendulum_that_stands_still_takes_no_small_steps():
    """At the top and hanging down: errors count by what gravity would do, not by the speed, which is none."""
    for angle in (0.0, math.pi):
        motion = simulate_mechanism(pendulum_chain((1.0,), (1.0,), (angle,)), [0.0, 5.0])
        assert motion.steps < 20
        assert motion.orientation[1, 0] == pytest.approx(angle, abs=1e-6)  # units of round-off grow 2e8 times


@pytest.mark.parametrize("hold", WAYS)
def test_a_slider_crank_moves_by_its_one_equation(hold):
    """I(th) th'' + I'(th) th'^2 / 2 = -V'(th), with I from the three bodies' speeds for a unit of crank speed."""
    r, rod, (m1, m2, m3) = 0.5, 1.2, (1.0, 2.0, 3.0)

    def lean(th):
        s, c = -r * math.sin(th) / rod, math.sqrt(1.0 - (r * math.sin(th) / rod) ** 2)
        return s, c, -r * math.cos(th) / (rod * c)  # sin, cos and d(lean)/d(th)

    def inertia(th):
        s, c, k = lean(th)
        pin = r * np.array([-math.sin(th), math.cos(th)])
        middle, block = pin + 0.5 * rod * k * np.array([-s, c]), pin + rod * k * np.array([-s, c])
        return m1 * r * r / 3.0 + m2 * (middle @ middle + rod * rod / 12.0 * k * k) + m3 * block @ block

    def slope(f, th, h=1e-3):
        return (f(th - 2 * h) - 8 * f(th - h) + 8 * f(th + h) - f(th + 2 * h)) / (12 * h)

    def rate(t, y):
        weight = G * math.cos(y[0]) * r * (0.5 * m1 + 0.5 * m2)
        return [y[1], (-0.5 * slope(inertia, y[0]) * y[1] ** 2 - weight) / inertia(y[0])]

    exact = solve_ivp(rate, (0.0, 0.4), (1.0, 3.0), method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    motion = simulate_mechanism(slider_crank(r, rod, masses=(m1, m2, m3), angle=1.0, spin=3.0), [0.4], hold=hold)
    assert [motion.orientation[0, 0], motion.spin[0, 0]] == pytest.approx(exact, abs=1e-9)


def test_a_sliding_ladder_leaves_the_wall_at_the_angle_of_its_closed_form():
    """cos th_d = 2/3 cos th_0 from the vertical; afterwards its centre goes on level at the speed that it has."""
    length, tilt = 2.0, 0.5
    middle = 0.5 * length * np.array([math.sin(tilt), math.cos(tilt)])
    ladder = Link(position=middle, orientation=tilt, inertia=length**2 / 12.0)  # its top end is (0, 1) in its frame
    joints = (
        Coupling(first=-1, second=0, linear=1, angular=1, axis=(1.0, 0.0), second_point=(0.0, -1.0), one_sided=True),
        Coupling(first=-1, second=0, linear=1, angular=1, axis=(0.0, -1.0), second_point=(0.0, 1.0), one_sided=True),
    )
    for hold in WAYS:
        times = [0.4749873338931869, 0.5]
        motion = simulate_mechanism(Mechanism(links=(ladder,), joints=joints), times, hold=hold)
        (left,) = [event for event in motion.events if event.kind == "lets go" and event.joint == 1]
        assert left.time == pytest.approx(times[0], abs=1e-10)
        assert motion.orientation[0, 0] == pytest.approx(0.9458484017732559, abs=1e-12)
        assert motion.velocity[-1, 0, 0] == pytest.approx(1.213836588507554, abs=1e-10)


def test_a_rope_gets_taut_at_its_time_and_takes_what_newtons_law_says():
    """1.5 m, thrown level at 3 m/s from its anchor: taut where the parabola meets the circle, e = 0."""
    point = Link(position=(0.0, 0.0), velocity=(3.0, 0.0))
    rope = Distance(first=-1, second=0, length=1.5, rope=True)
    for hold in WAYS:
        motion = simulate_mechanism(
            Mechanism(links=(point,), joints=(rope,)), [0.0, 0.4140464852291008 + 1e-9], hold=hold
        )
        after_impact = next(event for event in motion.events if event.kind == "impact")
        assert after_impact.time == pytest.approx(0.4140464852291008, abs=1e-12)
        assert motion.velocity[1, 0] == pytest.approx([-0.9427860968331362, -1.392663874062061], abs=1e-7)
        assert motion.events[-1].kind == "holds"


def test_samples_before_an_event_are_of_the_motion_before_it_and_events_after_the_end_are_not_told():
    """A point that falls by 1 m on a floor, e = 1/2: one step leads to the impact."""
    floor = Coupling(first=-1, second=0, linear=1, angular=1, axis=(1.0, 0.0), one_sided=True, restitution=0.5)
    mechanism = Mechanism(links=(Link(position=(0.0, 1.0)),), joints=(floor,))
    times, hit = np.array([0.1, 0.2, 0.44, 0.5]), math.sqrt(2.0 / G)
    later = 0.5 * math.sqrt(2.0 * G) * (0.5 - hit) - 0.5 * G * (0.5 - hit) ** 2
    for hold in WAYS:
        motion = simulate_mechanism(mechanism, times, hold=hold)
        assert motion.position[:, 0, 1] == pytest.approx([*(1.0 - 0.5 * G * times[:3] ** 2), later], abs=1e-12)
        assert simulate_mechanism(mechanism, times[:3], hold=hold).events == ()


def test_the_step_of_impulses_is_of_second_order_and_projection_takes_out_what_drifts():
    chain = pendulum_chain((1.0, 1.0), (1.0, 1.0), (1.0, 0.5))
    kept = simulate_mechanism(chain, [0.0, 2.0], tolerance=1e-8)
    drifting = simulate_mechanism(chain, [0.0, 2.0], tolerance=1e-8, stabilise="none")
    damped = simulate_mechanism(chain, [0.0, 2.0], tolerance=1e-8, stabilise="baumgarte")
    assert kept.joint_gap[1] < 1e-15 < damped.joint_gap[1] < drifting.joint_gap[1]
    assert 0.0 < kept.energy_moved < 1e-6


def test_forces_by_velocity_are_refused_by_impulses_and_damp_by_accelerations():
    """x'' = -k x - c x': the amplitude after a time of a light damper, in closed form."""
    block = Link(position=(1.0, 0.0), inertia=1.0)
    spring = LinkSpring(first=-1, second=0, stiffness=4.0, damping=0.4)
    mechanism = Mechanism(links=(block,), springs=(spring,), gravity=(0.0, 0.0),
                          joints=(Coupling(first=-1, second=0, linear=1, angular=0, axis=(1.0, 0.0)),))  # fmt: skip
    rate = math.sqrt(4.0 - 0.04)
    exact = math.exp(-0.2) * (math.cos(rate) + 0.2 / rate * math.sin(rate))
    assert simulate_mechanism(mechanism, [1.0]).position[0, 0, 0] == pytest.approx(exact, abs=1e-12)
    with pytest.raises(MechanismError, match="forces by velocity"):
        simulate_mechanism(mechanism, [1.0], hold="impulses")


def test_a_start_with_open_joints_or_twists_that_do_not_fit_is_refused():
    rod = Link(position=(0.5, 0.0), inertia=1.0 / 12.0)
    with pytest.raises(MechanismError, match=r"joints\[0\]: open by"):
        simulate_mechanism(Mechanism(links=(rod,), joints=(revolute(-1, 0, second_point=(-0.4, 0.0)),)), [1.0])
    flying = Link(position=(0.5, 0.0), inertia=1.0 / 12.0, velocity=(0.0, 1.0))
    with pytest.raises(MechanismError, match=r"joints\[0\]: opens with"):
        simulate_mechanism(Mechanism(links=(flying,), joints=(revolute(-1, 0, second_point=(-0.5, 0.0)),)), [1.0])
    assert issubclass(JointError, RuntimeError)
