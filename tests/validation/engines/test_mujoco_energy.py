"""The balance of energy of models: works, springs and rotors against closed forms and Lagrange's equations."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from scenarios.native import Controls, Model, Start
from scenarios.scene import SpatialScene
from tests.validation.engines.mujoco_models import ENGINE, measured, model_of, motion_of, scene_of, wrong
from validation.records.trajectory import Internals, SpatialTrajectory

G = 9.81
FINE = "integrator='RK4' timestep='1e-4'"
PART_OF_WORK = 1e-6
UNSEEN = "contype='0' conaffinity='0'"


def played(times: np.ndarray, *columns: np.ndarray) -> Controls:
    return Controls(times=tuple(times.tolist()), rows=tuple(zip(*(column.tolist() for column in columns))))


DURATIONS = pytest.mark.parametrize("duration", [0.5, pytest.param(2.0, marks=pytest.mark.slow)])  # s


def balanced(model: Model, duration: float) -> tuple[SpatialScene, SpatialTrajectory, Internals, dict[str, float]]:
    """As run, its sums, and what is measured of it; nothing is wrong."""
    scene = scene_of(model, duration)
    motion = motion_of(scene)
    values, outcomes = measured(scene, motion)
    assert motion.internals is not None and not wrong(outcomes)
    return scene, motion, motion.internals, values


# --- a linear oscillator, driven and damped -----------------------------------------------------------------------

MASS, ROTOR, DAMPING, STIFFNESS, FORCE, RATE = 1.0, 0.3, 0.7, 20.0, 3.0, 4.0
SLIDER = (
    f"<body name='b' pos='0 0 1'><joint name='j' type='slide' axis='1 0 0' stiffness='{STIFFNESS}' damping='{DAMPING}' "
    f"armature='{ROTOR}'/><geom size='0.1' mass='{MASS}' {UNSEEN}/></body>"
)
MOTOR = "<actuator><motor joint='j'/></actuator>"


def oscillator(time: float) -> tuple[float, float]:
    """x and v of M x'' + c x' + k x = F sin(w t), from rest: the particular solution and what decays."""
    M, c, k = MASS + ROTOR, DAMPING, STIFFNESS
    A, B = np.linalg.solve([[k - M * RATE**2, -c * RATE], [c * RATE, k - M * RATE**2]], [FORCE, 0.0])
    decay, w = c / (2.0 * M), np.sqrt(k / M - (c / (2.0 * M)) ** 2)
    C = -B
    D = (decay * C - A * RATE) / w
    s, o, e = np.sin(RATE * time), np.cos(RATE * time), np.exp(-decay * time)
    cw, sw = np.cos(w * time), np.sin(w * time)
    x = A * s + B * o + e * (C * cw + D * sw)
    v = RATE * (A * o - B * s) + e * ((w * D - decay * C) * cw - (w * C + decay * D) * sw)
    return float(x), float(v)


def driven(option: str, step: float, duration: float) -> Model:
    """The control of a step is that of its middle: held, it has the work of the smooth force to second order."""
    time = np.arange(0.0, duration, step)
    controls = played(time, FORCE * np.sin(RATE * (time + 0.5 * step)))
    return model_of(SLIDER, more=MOTOR, option=option, start=Start(controls=controls))


@DURATIONS
def test_works_of_a_driven_damped_oscillator_are_those_of_the_closed_form(duration: float) -> None:
    scene, motion, sums, values = balanced(driven(FINE, 1e-4, duration), duration)
    assert sums.actuators is not None and sums.passive is not None and sums.stored is not None
    given = quad(lambda t: FORCE * np.sin(RATE * t) * oscillator(t)[1], 0.0, duration, epsabs=1e-12)[0]
    taken = -quad(lambda t: DAMPING * oscillator(t)[1] ** 2, 0.0, duration, epsabs=1e-12)[0]
    x, v = oscillator(duration)
    assert motion.position[-1, 0, 0] == pytest.approx(x, rel=1e-7)
    assert sums.actuators[-1] == pytest.approx(given, rel=PART_OF_WORK)
    assert sums.passive[-1] == pytest.approx(taken, rel=PART_OF_WORK)
    assert sums.stored[-1] == pytest.approx(0.5 * STIFFNESS * x * x + 0.5 * ROTOR * v * v, rel=PART_OF_WORK)
    assert values["actuator_work"] == sums.actuators[-1]
    assert values["energy_drift"] < PART_OF_WORK * given and values["energy_gain"] == 0.0
    assert scene.native is not None and not scene.native.unmeasured


def test_with_the_defaults_of_mujoco_the_error_falls_with_the_step() -> None:
    """Semi-implicit Euler takes the damping and the control of a step at one end of it: an error of first order."""
    drift = []
    for step in (0.002, 0.001, 0.0005):
        *_, sums, values = balanced(driven(f"timestep='{step}'", step, 2.0), 2.0)
        assert sums.actuators is not None
        drift.append(values["energy_drift"] / abs(float(sums.actuators[-1])))
    assert 5e-5 < drift[0] < 5e-3
    assert drift[0] / drift[1] == pytest.approx(2.0, rel=0.1) and drift[1] / drift[2] == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize("option", [pytest.param(FINE, marks=pytest.mark.slow), "integrator='RK4' timestep='0.002'"])
def test_a_control_that_jumps_counts_as_it_is_held(option: str) -> None:
    """A force of 2 N, then -1 N, on a mass that nothing else moves: work is force times way to the last digits."""
    body = f"<body name='b'><joint name='j' type='slide' axis='1 0 0'/><geom size='0.1' mass='1' {UNSEEN}/></body>"
    start = Start(controls=played(np.array([0.0, 0.5]), np.array([2.0, -1.0])))
    *_, sums, values = balanced(model_of(body, more=MOTOR, option=option, start=start), 1.0)
    assert sums.actuators is not None
    assert sums.actuators[-1] == pytest.approx(0.5 * 0.5**2 * 2.0**2 - (1.0 * 0.5 - 0.5 * 0.5**2), rel=1e-9)
    assert values["energy_drift"] < 1e-12


# --- a pendulum, and a two-link arm -------------------------------------------------------------------------------

LINK, LENGTH = 1.0, 0.5
ROD = f"type='capsule' size='0.01' fromto='0 0 0 0 0 -{LENGTH}' contype='0' conaffinity='0'"
UNIFORM = "<inertial pos='0 0 -0.25' mass='1' diaginertia='0.02 0.02 0.0001'/>"
OWN = 0.02  # kg m^2, of a link about its centre


@DURATIONS
def test_a_pendulum_loses_what_its_damper_takes(duration: float) -> None:
    """Against the equation of motion, (I + m d^2) q'' = -m g d sin q - c q', to 1e-12."""
    c, d, swing = 0.05, 0.5 * LENGTH, 2.0
    body = f"<body name='p' pos='0 0 1'><joint name='q' axis='0 1 0' damping='{c}'/>{UNIFORM}<geom {ROD}/></body>"
    model = model_of(body, option=FINE, start=Start(values={"qpos": (swing,)}))
    *_, sums, values = balanced(model, duration)
    inertia = OWN + LINK * d * d

    def rate(time: float, y: np.ndarray) -> list[float]:
        return [y[1], (-LINK * G * d * np.sin(y[0]) - c * y[1]) / inertia, -c * y[1] ** 2]

    work = float(solve_ivp(rate, (0.0, duration), [swing, 0.0, 0.0], rtol=1e-12, atol=1e-13).y[2, -1])
    assert sums.passive is not None and sums.passive[-1] == pytest.approx(work, rel=PART_OF_WORK)
    assert values["energy_drift"] < PART_OF_WORK * abs(work)


def torques(angles: Callable[[float], np.ndarray], time: float) -> np.ndarray:
    """(2,) N m, of an arm of two links whose joint angles are given, by Lagrange's equations; a, b: from the vertical.

    T = (I + m d^2 + m L^2) a'^2 / 2 + (I + m d^2) b'^2 / 2 + m L d a' b' cos(a - b),
    V = -m g (d + L) cos a - m g d cos b;  the joint between them works on both.
    """
    h = 1e-3
    q = np.array([angles(time + k * h) for k in (-2, -1, 0, 1, 2)])
    q[:, 1] += q[:, 0]
    (a, b), (da, db) = q[2], (q[0] - 8 * q[1] + 8 * q[3] - q[4]) / (12 * h)
    dda, ddb = (-q[0] + 16 * q[1] - 30 * q[2] + 16 * q[3] - q[4]) / (12 * h * h)
    d, L, m = 0.5 * LENGTH, LENGTH, LINK
    coupling = m * L * d
    on_a = (OWN + m * d * d + m * L * L) * dda + coupling * (np.cos(a - b) * ddb + np.sin(a - b) * db**2)
    on_a += m * G * (d + L) * np.sin(a)
    on_b = (OWN + m * d * d) * ddb + coupling * (np.cos(a - b) * dda - np.sin(a - b) * da**2) + m * G * d * np.sin(b)
    return np.array([on_a + on_b, on_b])


def energy_of_arm(q: np.ndarray, rate: np.ndarray) -> float:
    a, b, da, db, d, L, m = q[0], q.sum(), rate[0], rate.sum(), 0.5 * LENGTH, LENGTH, LINK
    kinetic = 0.5 * (OWN + m * d * d + m * L * L) * da**2 + 0.5 * (OWN + m * d * d) * db**2
    kinetic += m * L * d * da * db * np.cos(a - b)
    return float(kinetic - m * G * (d + L) * np.cos(a) - m * G * d * np.cos(b))


def given_angles(time: float) -> np.ndarray:
    return np.array([0.6 * np.sin(3.0 * time), 0.4 * (1.0 - np.cos(5.0 * time))])


def given_rates(time: float) -> np.ndarray:
    return np.array([1.8 * np.cos(3.0 * time), 2.0 * np.sin(5.0 * time)])


@pytest.mark.slow
def test_motors_that_move_an_arm_as_given_do_the_work_of_lagrange_s_equations() -> None:
    duration, step = 0.9, 1e-4
    time = np.arange(0.0, duration, step)
    effort = np.array([torques(given_angles, t + 0.5 * step) for t in time])
    fore = f"<body name='fore' pos='0 0 -{LENGTH}'><joint name='b' axis='0 1 0'/>{UNIFORM}<geom {ROD}/></body>"
    body = f"<body name='upper' pos='0 0 2'><joint name='a' axis='0 1 0'/>{UNIFORM}<geom {ROD}/>{fore}</body>"
    motors = "<actuator><motor joint='a'/><motor joint='b'/></actuator>"
    values = {"qpos": tuple(given_angles(0.0)), "qvel": tuple(given_rates(0.0))}
    start = Start(values=values, controls=played(time, *effort.T))
    *_, sums, found = balanced(model_of(body, more=motors, option=FINE, start=start), duration)
    work = energy_of_arm(given_angles(duration), given_rates(duration)) - energy_of_arm(
        given_angles(0.0), given_rates(0.0)
    )
    assert sums.actuators is not None and abs(work) > 1.0
    assert sums.actuators[-1] == pytest.approx(work, rel=PART_OF_WORK)
    assert found["energy_drift"] < PART_OF_WORK * abs(work)


# --- what is read beside it ---------------------------------------------------------------------------------------

SERVO = "<actuator><position name='p' joint='j' kp='50'/></actuator>"


def test_nothing_that_is_read_moves_a_bit_of_the_motion() -> None:
    """Played by a loop of MuJoCo's own, with the same controls at the same steps."""
    time = np.arange(0.0, 0.4, 0.01)
    model = model_of(SLIDER, more=SERVO, start=Start(controls=played(time, np.sin(9.0 * time))))
    scene = scene_of(model, 0.4)
    world = ENGINE.build(scene, 0.002, {})
    alone = mujoco.MjModel.from_xml_string(model.files[0].content().decode())
    data = mujoco.MjData(alone)
    world.internals()
    for step in range(200):
        data.ctrl[:] = np.sin(9.0 * time[step // 5])
        mujoco.mj_step(alone, data)
        world.step(watched=True)
        assert world.read() == data.qpos.tobytes() + data.qvel.tobytes()
        world.internals()


def test_controls_without_times_are_one_for_each_step_and_the_last_stays() -> None:
    rows = tuple((float(k),) for k in range(10))
    scene = scene_of(model_of(SLIDER, more=MOTOR, start=Start(controls=Controls(rows=rows))), 0.1)
    world = ENGINE.build(scene, 0.002, {})
    seen = []
    for _ in range(12):
        world.step(watched=False)
        seen.append(float(world.data.ctrl[0]))
    assert seen == [*map(float, range(10)), 9.0, 9.0]


def test_a_servo_is_off_by_what_its_load_needs() -> None:
    """kp (control - x) = k x at rest."""
    body = SLIDER.replace(f"damping='{DAMPING}'", "damping='9'")
    scene = scene_of(model_of(body, more=SERVO, start=Start(values={"ctrl": (0.2,)})), 5.0)
    values, _ = measured(scene, motion_of(scene))
    assert values["tracking_final_travel"] == pytest.approx(0.2 * STIFFNESS / (50.0 + STIFFNESS), rel=1e-3)
    assert values["tracking_travel"] > values["tracking_final_travel"] and "tracking_angle" not in values


@pytest.mark.parametrize("solver", ["Newton", "CG", "PGS"])
def test_a_solver_that_may_not_go_on_ends_further_from_its_minimum(solver: str) -> None:
    boxes = "".join(
        f"<body name='b{k}' pos='0 0 {0.099 + 0.199 * k}'><freejoint/><geom type='box' size='0.1 0.1 0.1'/></body>"
        for k in range(4)
    )
    found = []
    for most in (1, 100):
        option = f"solver='{solver}' iterations='{most}' tolerance='1e-10'"
        scene = scene_of(model_of("<geom type='plane' size='1 1 1'/>" + boxes, option=option), 0.1)
        values, _ = measured(scene, motion_of(scene))
        assert 1 <= values["solver_iterations"] <= most
        found.append(values["solver_residual"])
    assert found[0] > 10.0 * found[1] > 0.0


def test_a_weld_opens_as_far_as_its_softness_lets_the_weight_pull_it() -> None:
    """Against how far the body has sunk."""
    body = f"<body name='b' pos='0 0 1'><freejoint/><geom type='box' size='0.1 0.1 0.1' mass='2' {UNSEEN}/></body>"
    model = model_of(body, more="<equality><weld body1='b' solref='0.1 1'/></equality>")
    scene = scene_of(model, 2.0)
    values, outcomes = measured(scene, motion := motion_of(scene))
    sunk = 1.0 - motion.position[:, 0, 2]
    assert values["equality_gap"] == pytest.approx(float(sunk.max()), rel=1e-3) and sunk.max() > 1e-3
    assert values["equality_angle"] < 1e-12 and not wrong(outcomes)


def test_a_weld_that_is_turned_opens_by_that_angle() -> None:
    body = f"<body name='b'><freejoint/><geom type='box' size='0.1 0.2 0.3' {UNSEEN}/></body>"
    turned = (0.0, 0.0, 0.0, float(np.cos(0.15)), 0.0, float(np.sin(0.15)), 0.0)
    more = "<equality><weld body1='b' relpose='0 0 0 1 0 0 0' solref='10 1' torquescale='0.7'/></equality>"
    model = model_of(body, more=more, option="gravity='0 0 0'", start=Start(values={"qpos": turned}))
    scene = scene_of(model, 0.02)
    assert measured(scene, motion_of(scene))[0]["equality_angle"] == pytest.approx(0.3, rel=1e-3)


def test_a_tendon_that_is_pulled_goes_beyond_its_limit() -> None:
    body = f"<site name='top' pos='0 0 1'/><body name='b' pos='0 0 0.5'><freejoint/><geom size='0.1' {UNSEEN}/>"
    rope = "<tendon><spatial limited='true' range='0 0.6'><site site='top'/><site site='low'/></spatial></tendon>"
    scene = scene_of(model_of(body + "<site name='low'/></body>", more=rope), 1.0)
    values, _ = measured(scene, motion := motion_of(scene))
    longest = float((1.0 - motion.position[:, 0, 2]).max())
    assert values["tendon_excess"] == pytest.approx(longest - 0.6, abs=2e-4) and longest > 0.6
