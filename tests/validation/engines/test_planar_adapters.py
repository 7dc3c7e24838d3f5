"""What every planar adapter owes a scene, whatever its engine: the laws, the forces, the ties, the reports."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pytest import approx

from scenarios.scene import (
    ArcPolygon,
    Bowl,
    ContactLaw,
    Damping,
    PairLaw,
    PlanarBody,
    PlanarScene,
    Polygon,
    Revolute,
    Rod,
    Rope,
    SpatialBody,
    SpatialScene,
    Sphere,
    Spring,
    Thruster,
    inertias,
    masses,
)
from tests.validation.engines.planar_scenes import DT, Array, G, ball, box, ground, scene, simulated
from validation.engines.box2d.adapter import Box2D
from validation.engines.engine import SettingError, check_overrides
from validation.engines.pymunk.adapter import Pymunk
from validation.engines.shared.pair_laws import PairLaws
from validation.records.trajectory import PlanarTrajectory

ROUND_OFF = {"pymunk": 1e-12, "box2d": 1e-5}  # relative, of double and single precision over some hundred steps
REST_GAP = {"pymunk": 0.0, "box2d": 0.015}  # m, of a box on a box: Box2D's skin

every_engine = pytest.mark.parametrize("engine", [Pymunk(), Box2D()], ids=lambda engine: engine.name)


# --- time -----------------------------------------------------------------------------------------------------


@every_engine
def test_a_thrown_ball_keeps_its_energy_once_the_velocity_is_taken_at_the_time_of_the_pose(engine: Any) -> None:
    """Semi-implicit Euler: exact for a parabola but for its lag. With the wrong sign it would gain or lose twice."""
    motion = simulated(engine, scene(ball(velocity=(3.0, 4.0), spin=2.0), duration=1.0))
    assert abs(motion.velocity_lag) == DT / 2

    def energy(lag: float) -> Array:
        v = motion.velocity[:, 0] - np.array([0.0, -G]) * lag
        return 0.5 * (v**2).sum(axis=1) + G * motion.position[:, 0, 1]

    assert energy(motion.velocity_lag) == approx(energy(motion.velocity_lag)[0], rel=ROUND_OFF[engine.name])
    assert abs(energy(-motion.velocity_lag)[-1] - energy(-motion.velocity_lag)[0]) > 0.1


@every_engine
def test_the_same_scene_twice_is_the_same_motion_to_the_last_bit(engine: Any) -> None:
    bodies = [box(f"box {i}", position=(0.01 * i, 0.6 + 1.1 * i), angle=0.1 * i, friction=0.4) for i in range(4)]
    pile = scene(*bodies, duration=1.0, ground=ground(friction=0.4))
    first, second = simulated(engine, pile), simulated(engine, pile)
    assert first.state_hash == second.state_hash
    assert np.array_equal(first.pose, second.pose)


# --- the law of each pair -----------------------------------------------------------------------------------------


def deceleration(motion: PlanarTrajectory, body: int = 0) -> float:
    """m/s^2 along x, over the second half, when the first contacts have settled."""
    half = motion.time >= motion.time[-1] / 2
    return -float(np.polyfit(motion.time[half], motion.velocity[half, body, 0], 1)[0])


@every_engine
@pytest.mark.parametrize(
    "rule, mu", [("geometric-mean", 0.4), ("product", 0.16), ("mean", 0.5), ("min", 0.2), ("max", 0.8)]
)
def test_a_sliding_box_slows_down_by_mu_g_for_the_pair_s_mu_under_every_rule(engine: Any, rule: Any, mu: float) -> None:
    gap = REST_GAP[engine.name]
    slide = scene(
        box(position=(0.0, 0.5 + gap), velocity=(8.0, 0.0), friction=0.2),
        ground=ground(friction=0.8),
        contact=ContactLaw(friction_rule=rule),
        duration=0.8,
    )
    assert deceleration(simulated(engine, slide)) == approx(mu * G, rel=1e-3)


@every_engine
@pytest.mark.parametrize(
    "rule, e", [("geometric-mean", 0.4), ("product", 0.16), ("mean", 0.5), ("min", 0.2), ("max", 0.8)]
)
def test_a_ball_leaves_the_wall_with_e_of_its_approach_speed_under_every_rule(engine: Any, rule: Any, e: float) -> None:
    shot = scene(
        ball(position=(0.0, 2.0), velocity=(0.0, -10.0), restitution=0.2),
        ground=ground(restitution=0.8),
        contact=ContactLaw(restitution_rule=rule),
        gravity=(0.0, 0.0),
        duration=0.5,
    )
    assert simulated(engine, shot).velocity[-1, 0, 1] == approx(10.0 * e, rel=ROUND_OFF[engine.name])


@every_engine
def test_pairs_whose_laws_no_values_of_the_shapes_can_make_still_get_them(engine: Any) -> None:
    """Three bodies of which each pair has its own e and mu: no product, mean or maximum of three numbers."""
    names = ("left", "right", "ground")
    pairs = (("left", "ground", 0.2, 0.3), ("right", "ground", 0.5, 0.8), ("left", "right", 0.9, 0.1))
    laws = ContactLaw(pairs=tuple(PairLaw(a=a, b=b, friction=mu, restitution=e) for a, b, mu, e in pairs))
    shots = scene(
        ball("left", position=(-4.0, 2.0), velocity=(0.0, -10.0)),
        ball("right", position=(4.0, 2.0), velocity=(0.0, -10.0)),
        ground=ground(),
        contact=laws,
        gravity=(0.0, 0.0),
        duration=0.5,
    )
    for rule in ("product", "geometric-mean"):
        assert PairLaws(shots).shape_values("friction", rule) is None
    for rule in ("product", "max"):
        assert PairLaws(shots).shape_values("restitution", rule) is None
    after = simulated(engine, shots).velocity[-1, :, 1]
    assert after == approx([3.0, 8.0], rel=ROUND_OFF[engine.name])

    gap = REST_GAP[engine.name]
    slides = scene(
        box("left", position=(-9.0, 0.5 + gap), velocity=(-8.0, 0.0)),
        box("right", position=(9.0, 0.5 + gap), velocity=(8.0, 0.0)),
        ground=ground(),
        contact=laws,
        duration=0.8,
    )
    motion = simulated(engine, slides)
    assert deceleration(motion, names.index("left")) == approx(-0.2 * G, rel=1e-3)
    assert deceleration(motion, names.index("right")) == approx(0.5 * G, rel=1e-3)


@every_engine
def test_bodies_of_one_group_pass_through_one_another_and_others_do_not(engine: Any) -> None:
    def shot(*groups: int) -> Array:
        bodies = (
            ball("a", position=(-2.0, 0.0), velocity=(5.0, 0.0), restitution=1.0, group=groups[0]),
            ball("b", restitution=1.0, group=groups[1]),
        )
        return simulated(engine, scene(*bodies, gravity=(0.0, 0.0), duration=1.0)).velocity[-1, :, 0]

    assert shot(70_000, 70_000) == approx([5.0, 0.0])
    assert shot(0, 0) == approx([0.0, 5.0], abs=1e-5)
    assert shot(1, 2) == approx([0.0, 5.0], abs=1e-5)


# --- boundaries ---------------------------------------------------------------------------------------------------


@every_engine
@pytest.mark.parametrize("tilt", [0.0, 0.4, math.pi / 2, 2.5, -1.0])
def test_a_half_plane_of_any_tilt_carries_a_ball_on_its_surface(engine: Any, tilt: float) -> None:
    normal = (0.0 - math.sin(tilt), math.cos(tilt))
    start = np.array([3.0, -7.0]) + 0.5 * np.array(normal)
    rest = scene(
        ball(position=tuple(start)),
        ground=ground(point=(3.0, -7.0), normal=normal),
        gravity=(-G * normal[0], -G * normal[1]),
        duration=1.0,
    )
    gap = (simulated(engine, rest).position[-1, 0] - np.array([3.0, -7.0])) @ np.array(normal) - 0.5
    assert gap == approx(0.0, abs=5.1e-3 if engine.name == "box2d" else 1e-3)


@every_engine
def test_what_is_shot_into_a_half_plane_comes_to_rest_on_its_own_side(engine: Any) -> None:
    """0.8 m a step, more than the ball's radius: a segment would be left behind."""
    shot = scene(ball(position=(0.0, 3.0), velocity=(0.0, -200.0)), ground=ground(), duration=3.0)
    assert simulated(engine, shot).position[-1, 0, 1] == approx(0.5, abs=6e-3)


@every_engine
def test_a_disc_rolls_in_a_bowl_as_a_pendulum_of_two_thirds_g(engine: Any) -> None:
    """Rolling without slip: theta'' = -(2/3) g sin(theta) / (R - r). Its period at 0.3 rad, T0 (1 + a^2/16)."""
    radius, amplitude = 5.0, 0.3
    start = (0.0 + (radius - 0.5) * math.sin(amplitude), -(radius - 0.5) * math.cos(amplitude))
    bowl = Bowl(name="bowl", radius=radius, friction=1.0)
    period = 2 * math.pi * math.sqrt(1.5 * (radius - 0.5) / G) * (1 + amplitude**2 / 16)
    rolling = scene(ball(position=start, friction=1.0), boundaries=(bowl,), duration=period)
    motion = simulated(engine, rolling)
    angle = np.arctan2(motion.position[:, 0, 0], -motion.position[:, 0, 1])
    assert angle[-1] == approx(amplitude, rel=0.05)
    assert motion.angle[len(angle) // 2, 0] > 2.0  # it rolls, and on its way left turns counter-clockwise
    half = np.interp(0.0, -angle[: len(angle) // 2], motion.time[: len(angle) // 2])
    assert half == approx(period / 4, rel=0.01)


# --- reports --------------------------------------------------------------------------------------------------------


def worst_imbalance(given: PlanarScene, motion: PlanarTrajectory) -> tuple[float, float]:
    """N s and N m s: change of each body's momentum in a step, less gravity and the impulses reported for it."""
    contacts = motion.contacts
    assert contacts is not None and len(np.unique(contacts.sample)) > 3
    m, moment = masses(given), inertias(given)
    linear = angular = 0.0
    for sample in np.unique(contacts.sample):
        assert motion.time[sample] - motion.time[sample - 1] == approx(motion.dt)
        for i, body in enumerate(given.bodies):
            if body.fixed:
                continue
            push = m[i] * np.array(given.gravity) * motion.dt
            twist = 0.0
            for k in np.flatnonzero(contacts.sample == sample):
                sign = float(contacts.b[k] == i) - float(contacts.a[k] == i)
                arm = contacts.point[k] - motion.position[sample, i]
                push = push + sign * contacts.impulse[k]
                twist += sign * (arm[0] * contacts.impulse[k][1] - arm[1] * contacts.impulse[k][0])
            gained = m[i] * (motion.velocity[sample, i] - motion.velocity[sample - 1, i])
            linear = max(linear, float(np.abs(gained - push).max()))
            spun = moment[i] * (motion.spin[sample, i] - motion.spin[sample - 1, i])
            angular = max(angular, float(abs(spun - twist)))
    return linear, angular


@every_engine
def test_the_impulses_reported_for_a_resting_stack_carry_each_weight(engine: Any) -> None:
    gap = REST_GAP[engine.name]
    stack = scene(
        box("lower", position=(0.0, 0.5 + gap), friction=0.5, mass=2.0),
        box("upper", position=(0.1, 1.5 + 2 * gap), friction=0.5, mass=3.0),
        ground=ground(friction=0.5),
        duration=2.0,
    )
    motion = simulated(engine, stack)
    linear, angular = worst_imbalance(stack, motion)
    weight = 5.0 * G * DT
    assert linear < 1e-5 * weight and angular < 1e-4 * weight
    contacts = motion.contacts
    assert contacts is not None
    last = contacts.sample == contacts.sample.max()
    on_ground = last & (contacts.a == 0) & (contacts.b == 2)  # bodies, then boundaries
    between = last & (contacts.a == 0) & (contacts.b == 1)
    assert contacts.impulse[on_ground].sum(axis=0) == approx([0.0, -weight], rel=1e-3, abs=1e-3 * weight)
    assert contacts.impulse[between].sum(axis=0) == approx([0.0, 3.0 * G * DT], rel=1e-3, abs=1e-3 * weight)
    assert contacts.normal[on_ground][:, 1] == approx(-1.0, abs=1e-3)
    assert contacts.normal[between][:, 1] == approx(1.0, abs=1e-3)
    assert contacts.point[on_ground][:, 1] == approx(0.0, abs=0.02)


@every_engine
def test_the_impulses_reported_for_a_sliding_box_lie_on_the_cone_and_balance_its_momentum(engine: Any) -> None:
    gap = REST_GAP[engine.name]
    slide = scene(
        box(position=(0.0, 0.5 + gap), velocity=(8.0, 0.0), friction=0.5), ground=ground(friction=0.5), duration=1.0
    )
    motion = simulated(engine, slide)
    linear, angular = worst_imbalance(slide, motion)
    assert linear < 1e-4 * G * DT and angular < 1e-3 * G * DT
    contacts = motion.contacts
    assert contacts is not None
    on_ground = contacts.impulse[contacts.sample == contacts.sample.max()].sum(axis=0)
    assert on_ground[0] == approx(-0.5 * on_ground[1], rel=1e-3)  # on the ground: forward and down
    assert on_ground[0] > 0.0


@every_engine
def test_reported_impulses_balance_in_a_heap_of_discs_and_a_box_in_a_bowl(engine: Any) -> None:
    """Disc on disc, disc on box, disc and box on a bowl: each kind of contact has its own code in an engine."""
    heap = scene(
        ball("left", position=(-0.6, -2.0), friction=0.6),
        ball("right", position=(0.6, -2.0), friction=0.6),
        ball("top", position=(0.05, -0.9), friction=0.6),
        box("box", width=2.0, height=0.4, position=(0.0, 0.0), angle=0.1, friction=0.6),
        boundaries=(Bowl(name="bowl", radius=3.0, friction=0.6),),
        duration=3.0,
    )
    # Chipmunk counts the impulse of a contact that it remembers again when the contact comes back.
    forgetful = {"collision_persistence": 1} if engine.name == "pymunk" else {}
    motion = simulated(engine, heap, **forgetful)
    contacts = motion.contacts
    assert contacts is not None
    met = set(zip(contacts.a.tolist(), contacts.b.tolist()))
    assert {(0, 2), (1, 2), (2, 3), (0, 4), (1, 4)} <= met
    linear, _ = worst_imbalance(heap, motion)
    assert linear < 1e-5 * 4.0 * G * DT


# --- joints and forces ---------------------------------------------------------------------------------------


def tie_length(motion: PlanarTrajectory, i: int, anchor: tuple[float, float], to: Any) -> Array:
    """(S,) m from a body's anchor to a point."""
    c, s = np.cos(motion.angle[:, i]), np.sin(motion.angle[:, i])
    x = motion.position[:, i, 0] + c * anchor[0] - s * anchor[1]
    y = motion.position[:, i, 1] + s * anchor[0] + c * anchor[1]
    return np.hypot(x - to[0], y - to[1])


@every_engine
def test_a_revolute_joint_to_the_world_makes_a_compound_pendulum(engine: Any) -> None:
    """Small swings of a rod about its end: T = 2 pi sqrt(2 L / 3 g)."""
    rod = box("rod", width=1.0, height=0.1, inertia=1.0 / 12.0, position=(0.5 * math.sin(0.1), -0.5 * math.cos(0.1)))
    rod = rod.model_copy(update={"angle": 0.1 - math.pi / 2})
    hinge = Revolute(name="hinge", a="rod", anchor_a=(-0.5, 0.0), anchor_b=(0.0, 0.0))
    period = 2 * math.pi * math.sqrt(2.0 / (3.0 * G)) * (1 + 0.1**2 / 16)
    motion = simulated(engine, scene(rod, joints=(hinge,), duration=period))
    assert tie_length(motion, 0, (-0.5, 0.0), (0.0, 0.0)).max() < 1e-3
    assert motion.angle[-1, 0] + math.pi / 2 == approx(0.1, abs=2e-3)


@every_engine
def test_a_rod_keeps_its_length_and_a_rope_only_its_greatest(engine: Any) -> None:
    shared = {"a": "ball", "anchor_a": (0.0, 0.0), "anchor_b": (0.0, 0.0), "length": 1.0}
    swing = scene(ball(position=(1.0, 0.0)), joints=(Rod(name="rod", **shared),), duration=1.0)
    assert tie_length(simulated(engine, swing), 0, (0.0, 0.0), (0.0, 0.0)) == approx(1.0, abs=1e-2)

    fall = scene(ball(position=(0.1, -0.2)), joints=(Rope(name="rope", **shared),), duration=1.0)
    motion = simulated(engine, fall)
    length = tie_length(motion, 0, (0.0, 0.0), (0.0, 0.0))
    slack = motion.time < 0.35  # 0.8 m of free fall take 0.40 s
    assert motion.position[slack, 0, 1] == approx(-0.2 - 0.5 * G * motion.time[slack] ** 2, abs=G * DT * 0.35)
    assert length.max() < 1.0 + 2e-2 and length.max() > 0.95
    assert motion.position[-1, 0, 1] < -0.9


@every_engine
@pytest.mark.parametrize("collide", [False, True])
def test_joined_bodies_touch_only_where_the_joint_lets_them(engine: Any, collide: bool) -> None:
    """Two overlapping discs, tied by a slack rope: they are pushed apart, or left alone."""
    tie = Rope(name="rope", a="a", b="b", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), length=5.0, collide=collide)
    pair = scene(ball("a"), ball("b", position=(0.8, 0.0)), joints=(tie,), gravity=(0.0, 0.0), duration=1.0)
    distance = np.diff(simulated(engine, pair).position[-1, :, 0])[0]
    assert distance > 0.95 if collide else distance == approx(0.8)


@every_engine
def test_a_joint_to_the_world_does_not_open_the_ground(engine: Any) -> None:
    tie = Rope(name="rope", a="ball", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), length=50.0)
    held = scene(ball(position=(0.0, 0.5)), ground=ground(), joints=(tie,), duration=1.0)
    assert simulated(engine, held).position[-1, 0, 1] > 0.49


@every_engine
def test_a_joint_between_two_immovable_things_is_harmless(engine: Any) -> None:
    anchor = PlanarBody(name="anchor", shape=ball().shape, fixed=True, position=(0.0, 3.0))
    tie = Rod(name="rod", a="anchor", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), length=3.0)
    motion = simulated(engine, scene(ball(position=(5.0, 0.0)), anchor, joints=(tie,), duration=0.5))
    assert motion.pose[-1, 1] == approx(np.array([0.0, 3.0, 0.0]))


@every_engine
def test_a_spring_swings_at_sqrt_k_over_m_and_neither_gains_nor_loses(engine: Any) -> None:
    """Twenty periods. Forces taken at the wrong end of the step would multiply the energy by 1 + (omega dt)^2 each."""
    k, m = 400.0, 4.0
    spring = Spring(a="ball", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), stiffness=k, rest_length=1.0)
    period = 2 * math.pi * math.sqrt(m / k)
    swing = scene(ball(position=(1.1, 0.0), mass=m), springs=(spring,), gravity=(0.0, 0.0), duration=20 * period)
    stretch = simulated(engine, swing).position[:, 0, 0] - 1.0
    assert np.abs(stretch).max() == approx(0.1, rel=0.03)
    assert np.abs(stretch[-60:]).max() == approx(0.1, rel=0.03)
    assert stretch[-1] == approx(0.1, rel=0.03)


@every_engine
def test_a_thruster_gives_its_impulse_and_its_torque(engine: Any) -> None:
    """A ramp from 0 to 10 N in 1 s, then nothing, 0.25 m off the centre: 5 N s and 1.25 N m s."""
    thruster = Thruster(
        body="box", anchor=(0.0, -0.25), force=(10.0, 0.0), profile=((0.0, 0.0), (1.0, 1.0), (1.0, 0.0))
    )
    rocket = box(mass=2.0, inertia=50.0)  # turns little, so that the force keeps its direction
    motion = simulated(engine, scene(rocket, thrusters=(thruster,), gravity=(0.0, 0.0), duration=1.2))
    assert motion.velocity[-1, 0, 0] == approx(2.5, rel=0.01)
    assert motion.spin[-1, 0] == approx(1.25 / 50.0, rel=0.01)


@every_engine
def test_damping_slows_down_exponentially(engine: Any) -> None:
    given = scene(
        ball(mass=2.0, inertia=0.5, velocity=(3.0, 0.0), spin=4.0),
        damping=Damping(linear=1.0, angular=0.5),
        gravity=(0.0, 0.0),
        duration=1.0,
    )
    motion = simulated(engine, given)
    assert motion.velocity[-1, 0, 0] == approx(3.0 * math.exp(-0.5), rel=2e-3)
    assert motion.spin[-1, 0] == approx(4.0 * math.exp(-1.0), rel=3e-3)


# --- what it cannot be ----------------------------------------------------------------------------------------


@every_engine
def test_what_the_engine_cannot_represent_it_declines_in_words(engine: Any) -> None:
    spatial = SpatialScene(bodies=(SpatialBody(name="ball", shape=Sphere(radius=1.0), mass=1.0),), duration=1.0)
    arrow = Polygon(vertices=((0.0, 0.0), (2.0, -1.0), (1.0, 0.0), (2.0, 1.0)))
    arc = ArcPolygon(vertices=((-1.0, 0.0), (1.0, 0.0)), bulges=(1.0, 1.0))
    shapes = [PlanarBody(name="body", shape=shape, mass=1.0, inertia=1.0) for shape in (arrow, arc)]
    reasons = [engine.declines(given) for given in (spatial, *(scene(body, duration=1.0) for body in shapes))]
    assert "planar" in reasons[0] and "concave" in reasons[1] and "arcs" in reasons[2]
    assert engine.declines(scene(ball(), box(position=(3.0, 0.0)), ground=ground(), duration=1.0)) is None


@pytest.mark.parametrize(
    "engine, name", [(Pymunk(), "iterations"), (Box2D(), "velocity_iterations"), (Box2D(), "position_iterations")]
)
@pytest.mark.parametrize("value", ["0", "-1", "1e9", "nan", "2.5", "many"])
def test_iterations_that_would_abort_or_hang_the_process_are_refused(engine: Any, name: str, value: str) -> None:
    with pytest.raises(SettingError, match=rf"^{engine.name}:{name}: '{value}' .* allowed: integer 1 to 100000$"):
        check_overrides(engine, {name: value})


@every_engine
def test_every_setting_says_what_it_does_and_holds_its_own_default(engine: Any) -> None:
    for name, setting in engine.settings.items():
        assert setting.doc
        assert check_overrides(engine, {name: str(setting.default)})[name] == setting.default
    assert set(engine.profile("fair", scene(ball(), duration=1.0), DT)) <= set(engine.settings)
    assert engine.profile("default", scene(ball(), duration=1.0), DT) == {}
