"""What is MuJoCo's own: its defaults, integrators, soft contacts, pair law, warnings, ropes and rods."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from pytest import approx

from scenarios.catalogue import FAMILIES
from scenarios.catalogue.walkers import walkers
from scenarios.scene import (
    ContactLaw,
    Ellipsoid,
    HalfSpace,
    Hinge,
    PairLaw,
    PlanarBody,
    PlanarScene,
    Polygon,
    Revolute,
    Rod,
    Rope,
    Sphere,
    Thruster,
)
from tests.validation.engines.planar_scenes import Array, ball, box, ground, rectangle, scene, simulated
from tests.validation.engines.spatial_scenes import DT, G, in_plane, in_space, momentum_imbalance, solid, space
from validation.engines.engine import NotFiniteError, resolve_settings
from validation.engines.mujoco import mjcf
from validation.engines.mujoco import model as mujoco_model
from validation.engines.mujoco.adapter import SETTINGS, MuJoCo
from validation.engines.shared.linear_contact import bounce
from validation.engines.shared.pair_laws import PairLaws
from validation.engines.shared.replay import one_step
from validation.judging.evidence.replay import chosen
from validation.judging.relations import agreed, limits, perturbed

PULL = 0.1  # m/s^2 beyond what friction holds

# --- defaults ------------------------------------------------------------------------------------------------


ALWAYS_OFF = mujoco.mjtDisableBit.mjDSBL_FILTERPARENT | mujoco.mjtDisableBit.mjDSBL_AUTORESET


def model_with(restitution: float = 0.0, **settings: Any) -> Any:
    thrown = ball(position=(0.0, 0.5), friction=0.3, restitution=restitution)
    given = scene(thrown, ground=ground(friction=0.3), duration=1.0)
    return mujoco_model.build_model(given, DT, resolve_settings(MuJoCo(), "default", settings, given, DT))[0]


def test_every_default_is_mujoco_s_own() -> None:
    option = mujoco.MjSpec().option
    defaults = {name: setting.default for name, setting in SETTINGS.items()}
    for name in ("impratio", "iterations", "ls_iterations", "tolerance", "noslip_iterations", "ccd_tolerance"):
        assert defaults[name] == getattr(option, name)
    assert mujoco.mjtCone(option.cone).name == f"mjCONE_{defaults['cone']}".replace("pyramidal", "PYRAMIDAL")
    assert mujoco.mjtSolver(option.solver).name == f"mjSOL_{str(defaults['solver']).upper()}"
    assert mujoco.mjtIntegrator(option.integrator).name == f"mjINT_{str(defaults['integrator']).upper()}"
    assert mujoco.mjtJacobian(option.jacobian).name == f"mjJAC_{str(defaults['jacobian']).upper()}"
    geom = mujoco.MjSpec().worldbody.add_geom()
    assert list(geom.solref) == [defaults["solref_timeconst"], defaults["solref_dampratio"]]
    assert list(geom.solimp) == [*(defaults[f"solimp_{name}"] for name in ("dmin", "dmax", "width")), 0.5, 2.0]
    for wanted in (True, False):  # off by default up to version 3, on from 4
        option = model_with(multiccd=wanted).opt
        as_it_comes = mujoco.MjOption()
        unchanged = (option.enableflags, option.disableflags & ~ALWAYS_OFF) == (
            as_it_comes.enableflags,
            as_it_comes.disableflags,
        )
        assert unchanged is (wanted is defaults["multiccd"])


def test_fair_is_as_stiff_as_the_step_allows() -> None:
    given = scene(box(), duration=1.0)
    for dt in (1 / 240, 1 / 1000):
        assert resolve_settings(MuJoCo(), "fair", {}, given, dt)["solref_timeconst"] == 2 * dt
    assert MuJoCo().profile("default", given, DT) == {}


def test_every_setting_reaches_the_model() -> None:
    other: dict[str, Any] = {
        "solref_timeconst": 0.03,
        "solref_dampratio": 0.7,
        "solimp_dmin": 0.8,
        "solimp_dmax": 0.91,
        "solimp_width": 0.002,
        "impact_steps": 20,
        "cone": "elliptic",
        "impratio": 3.0,
        "solver": "pgs",
        "iterations": 7,
        "ls_iterations": 9,
        "tolerance": 1e-5,
        "noslip_iterations": 2,
        "integrator": "implicitfast",
        "jacobian": "sparse",
        "islands": not SETTINGS["islands"].default,
        "ccd_tolerance": 1e-7,
        "multiccd": not SETTINGS["multiccd"].default,
        "bowl_segments": 100,
        "sphere_subdivisions": 2,
    }
    assert set(other) == set(SETTINGS)
    assert all(other[name] != setting.default for name, setting in SETTINGS.items())
    model = model_with(**other)
    assert model.opt.timestep == DT
    for name in ("impratio", "iterations", "ls_iterations", "tolerance", "noslip_iterations", "ccd_tolerance"):
        assert getattr(model.opt, name) == other[name]
    assert model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC
    assert model.opt.solver == mujoco.mjtSolver.mjSOL_PGS
    assert model.opt.integrator == mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    assert model.opt.jacobian == mujoco.mjtJacobian.mjJAC_SPARSE
    if hasattr(mujoco.mjtDisableBit, "mjDSBL_ISLAND"):  # from 3.3.6 on, where it is on by default
        assert model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_ISLAND
    assert model.geom_solref == approx(np.array([[0.03, 0.7]] * 2))
    assert model.geom_solimp == approx(np.array([[0.8, 0.91, 0.002, 0.5, 2.0]] * 2))
    bouncing = model_with(restitution=1.0, **other)
    assert bouncing.geom_solref == approx(np.array([[-((math.pi / (20 * DT)) ** 2), 0.0]] * 2))
    assert bouncing.geom_solimp == approx(np.array([[0.91, 0.91, 0.002, 0.5, 2.0]] * 2))


# --- integrators -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator, lag", [("euler", -0.5), ("implicit", -0.5), ("implicitfast", -0.5), ("rk4", 0.0)])
def test_the_lag_of_the_velocities_is_that_of_the_integrator(integrator: str, lag: float) -> None:
    """A thrown ball keeps its energy to round-off with the velocity taken at the time of the pose, and only then."""
    thrown = scene(ball(velocity=(3.0, 4.0), spin=2.0), duration=1.0)
    motion = in_plane(MuJoCo(), thrown, integrator=integrator)
    assert motion.velocity_lag == lag * DT

    def spread(lag: float) -> float:
        v = motion.velocity[:, 0] - np.array([0.0, -G]) * lag
        return float(np.ptp(0.5 * (v**2).sum(axis=1) + G * motion.position[:, 0, 1]))

    assert spread(motion.velocity_lag) < 1e-12
    assert spread(motion.velocity_lag + DT / 4) > 0.01


def rods(theta_1: float, theta_2: float) -> PlanarScene:
    """Uniform rods of 1 m and 1 kg at rest, angles from hanging down."""
    down = [np.array([math.sin(t), -math.cos(t)]) for t in (theta_1, theta_2)]
    places = [0.5 * down[0], down[0] + 0.5 * down[1]]
    bodies = [
        box(name, width=0.1, inertia=1.0 / 12.0, position=tuple(place.tolist()), angle=theta)
        for name, place, theta in zip(("1", "2"), places, (theta_1, theta_2))
    ]
    joints = (
        Revolute(name="pivot", a="1", anchor_a=(0.0, 0.5), anchor_b=(0.0, 0.0)),
        Revolute(name="knee", a="1", b="2", anchor_a=(0.0, -0.5), anchor_b=(0.0, 0.5)),
    )
    return scene(*bodies, joints=joints, duration=10.0)


def test_by_rk4_the_double_pendulum_is_where_its_equations_have_it_after_ten_seconds() -> None:
    """Converged integration of the equations in two angles, 1 and 0.5 rad at rest; the error of RK4 is 1e-5 here."""
    motion = in_plane(MuJoCo(), rods(1.0, 0.5), integrator="rk4")
    assert motion.angle[-1] == approx([0.491409914355631, 1.343738754718705], abs=1e-5)
    assert motion.spin[-1] == approx([-1.517175539206700, -0.495422475021822], abs=1e-4)


# --- contacts ----------------------------------------------------------------------------------------------------


def test_a_block_that_stands_sinks_by_microns_and_lies_still() -> None:
    """1 x 3 m, 4 s; measured by others: 1.7e-6 m. Stiffer with a shorter step, softer by default."""
    standing = scene(box(height=3.0, position=(0.0, 1.5), friction=0.5), ground=ground(friction=0.5), duration=4.0)
    depth = {dt: 1.5 - in_plane(MuJoCo(), standing, dt=dt).position[-1, 0, 1] for dt in (1 / 240, 1 / 480)}
    assert 0.85e-6 < depth[1 / 240] < 3.4e-6
    assert depth[1 / 480] == approx(depth[1 / 240] / 4, rel=0.05)  # solref^2
    soft = in_plane(MuJoCo(), standing, "default")
    assert 1.5 - soft.position[-1, 0, 1] > 5 * depth[1 / 240]
    assert np.abs(in_plane(MuJoCo(), standing).twist[-1]).max() < 1e-9


def test_what_slides_lifts_off_the_more_the_stiffer_the_contact() -> None:
    """A trait of the convex contact model: friction at speed pushes the bodies apart. Not for an adapter to mend."""
    slide = scene(
        box(position=(0.0, 0.5), velocity=(8.0, 0.0), friction=0.5), ground=ground(friction=0.5), duration=0.5
    )
    hop = {
        profile: float(in_plane(MuJoCo(), slide, profile).position[:, 0, 1].max()) - 0.5
        for profile in ("fair", "default")
    }
    assert hop["fair"] > 0.3 and 0.05 < hop["default"] < 0.2


def test_an_ellipsoid_rests_on_its_shortest_axis() -> None:
    egg = solid(Ellipsoid(semi_axes=(0.5, 0.4, 0.3)), position=(0.0, 0.0, 0.3), friction=0.5)
    motion = in_space(MuJoCo(), space(egg, floor=HalfSpace(name="floor", friction=0.5), duration=1.0))
    assert motion.position[-1, 0, 2] == approx(0.3, abs=1e-4)


def test_a_concave_polygon_hooks_over_an_edge() -> None:
    """An L whose inner corner lies over a fixed post's corner: its hull would be held up higher."""
    corners = ((0.0, 0.0), (1.0, 0.0), (1.0, 0.2), (0.2, 0.2), (0.2, 1.0), (0.0, 1.0))
    shape = Polygon(vertices=tuple((x - 0.3, y - 0.3) for x, y in corners))
    hook = PlanarBody(name="hook", shape=shape, mass=1.0, inertia=0.1, angle=math.pi, position=(0.0, 0.0), friction=0.9)
    # turned by pi the L's inner corner is at (0.1, 0.1), its arms reach to -0.7; the post fills x, y < 0.1
    post = PlanarBody(name="post", shape=rectangle(0.5, 2.0), fixed=True, position=(-0.15, -0.9), friction=0.9)
    motion = in_plane(MuJoCo(), scene(hook, post, duration=0.5))
    assert motion.position[-1, 0] == approx([0.0, 0.0], abs=5e-3)


def test_contacts_are_reported_without_impulse_where_mujoco_keeps_that_of_a_stage_only() -> None:
    resting = scene(box(position=(0.0, 0.5), friction=0.5), ground=ground(friction=0.5), duration=0.5)
    contacts = in_plane(MuJoCo(), resting, integrator="rk4").contacts
    assert contacts is not None and np.isnan(contacts.impulse).all() and np.isfinite(contacts.gap).all()


# --- the law of each pair ----------------------------------------------------------------------------------------


def friction_of(motion: Any, body: int, pull: Array) -> float:
    """mu of a body that started at rest, from what the pull along x left of its speed."""
    return float((pull[0] - motion.velocity[-1, body, 0] / motion.time[-1]) / G)


def test_pairs_whose_laws_no_values_of_the_bodies_can_make_still_get_them() -> None:
    """On the ground each has its own mu, against each other none: no two numbers whose maximum is 0 and yet 0.2."""
    pairs = (("left", "ground", 0.2), ("right", "ground", 0.4), ("left", "right", 0.0))
    laws = ContactLaw(pairs=tuple(PairLaw(a=a, b=b, friction=mu) for a, b, mu in pairs))
    bodies = (box("left", width=2.0, position=(-5.0, 0.5)), box("right", width=2.0, position=(5.0, 0.5)))
    pull = np.array([0.2 * G + PULL, -G])
    slides = scene(*bodies, ground=ground(), contact=laws, gravity=tuple(pull.tolist()), duration=1.0)
    assert PairLaws(slides).shape_values("friction", "max") is None
    motion = in_plane(MuJoCo(), slides)
    assert friction_of(motion, 0, pull) == approx(0.2, rel=0.015)
    assert motion.velocity[-1, 1, 0] == approx(0.0, abs=2e-3)  # held


def test_a_listed_pair_meets_and_one_that_is_not_listed_passes() -> None:
    """Three stacked boxes of which the middle pair has its own law; members of a group pass through each other."""
    pairs = (
        PairLaw(a="a", b="ground", friction=0.3),
        PairLaw(a="b", b="ground", friction=0.6),
        PairLaw(a="c", b="ground", friction=0.9),
        PairLaw(a="a", b="b", friction=0.1),
        PairLaw(a="b", b="c", friction=0.2),
        PairLaw(a="a", b="c", friction=0.8),
    )
    bodies = [box(name, position=(0.0, 0.5 + i)) for i, name in enumerate("abc")]
    stack = scene(*bodies, ground=ground(), contact=ContactLaw(pairs=pairs), duration=1.0)
    assert PairLaws(stack).shape_values("friction", "max") is None
    assert in_plane(MuJoCo(), stack).position[-1, :, 1] == approx([0.5, 1.5, 2.5], abs=1e-3)
    assert momentum_imbalance(stack, in_plane(MuJoCo(), stack)) < 1e-9
    grouped = [body.model_copy(update={"group": 1 if body.name in "bc" else 0}) for body in bodies]
    loose = scene(*grouped, ground=ground(), contact=ContactLaw(pairs=pairs), duration=1.0)
    fallen = in_plane(MuJoCo(), loose)
    assert fallen.position[-1, 2, 1] < 1.6


# --- warnings ------------------------------------------------------------------------------------------------------


def test_a_state_that_diverges_is_an_error_and_no_fresh_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo by itself goes on from zero, ends normally, and writes MUJOCO_LOG.TXT where the user is."""
    monkeypatch.chdir(tmp_path)
    rocket = Thruster(body="ball", anchor=(0.0, 0.0), force=(1e12, 0.0))
    away = scene(ball(mass=1e-6), thrusters=(rocket,), duration=0.5)
    with pytest.raises(NotFiniteError, match=r"BADQ(POS|VEL|ACC).* by 0\.\d+ s"):
        in_plane(MuJoCo(), away)
    assert list(tmp_path.iterdir()) == []


def test_contacts_that_do_not_fit_into_memory_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mjcf, "MEMORY", 15_000)
    bodies = [ball(f"{i}", position=(1.1 * i, 0.5), friction=0.5) for i in range(20)]
    with pytest.raises(MemoryError, match="dropped contacts"):
        in_plane(MuJoCo(), scene(*bodies, ground=ground(friction=0.5), duration=0.1))


# --- ropes and rods ------------------------------------------------------------------------------------------------


def test_a_rod_keeps_its_length_and_a_rope_only_its_greatest() -> None:
    ends: dict[str, Any] = {"a": "ball", "anchor_a": (0.0, 0.0), "anchor_b": (0.5, 0.0), "length": 1.0}
    swing = scene(ball(position=(1.5, 0.0)), joints=(Rod(name="rod", **ends),), duration=1.0)
    reach = np.linalg.norm(in_plane(MuJoCo(), swing).position[:, 0] - np.array([0.5, 0.0]), axis=1)
    assert reach == approx(1.0, abs=2e-3)
    fall = scene(ball(position=(0.6, -0.2)), joints=(Rope(name="rope", **ends),), duration=1.0)
    motion = in_plane(MuJoCo(), fall)
    reach = np.linalg.norm(motion.position[:, 0] - np.array([0.5, 0.0]), axis=1)
    slack = motion.time < 0.35  # 0.8 m of free fall take 0.40 s
    assert motion.position[slack, 0, 1] == approx(-0.2 - 0.5 * G * motion.time[slack] ** 2, abs=G * DT * 0.35)
    assert 0.95 < reach.max() < 1.02
    assert motion.position[-1, 0, 1] < -0.9


def test_two_bodies_on_a_rod_spin_about_their_common_centre() -> None:
    """Both ends move: the tendon pulls on both."""
    rod = Rod(name="rod", a="a", b="b", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.0), length=2.0)
    bodies = (
        ball("a", radius=0.1, position=(-1.0, 0.0), velocity=(0.0, -1.0)),
        ball("b", radius=0.1, position=(1.0, 0.0), velocity=(0.0, 1.0)),
    )
    motion = in_plane(MuJoCo(), scene(*bodies, joints=(rod,), gravity=(0.0, 0.0), duration=math.pi))
    assert np.linalg.norm(motion.position[:, 1] - motion.position[:, 0], axis=1) == approx(2.0, abs=2e-3)
    assert motion.position.sum(axis=1) == approx(0.0, abs=1e-9)
    assert motion.position[-1, 1] == approx([-1.0, 0.0], abs=2e-2)


# --- restitution ---------------------------------------------------------------------------------------------------


def rebounds(e: float, steps: int, **given: Any) -> Array:
    """Shares of its speed that a ball returns which meets a wall at 16 places within a step, without gravity."""
    shares = []
    for k in range(16):
        start = 0.5 + (3.0 + k / 16.0) * DT
        thrown = ball(position=(0.0, start), velocity=(0.0, -1.0), restitution=e)
        given_scene = scene(thrown, ground=ground(), gravity=(0.0, 0.0), duration=(steps + 12) * DT, **given)
        motion = simulated(MuJoCo(), given_scene, impact_steps=steps)
        assert motion.impact_time == approx((steps + 1) * DT)
        shares.append(motion.velocity[-1, 0, 1])
    return np.array(shares)


@pytest.mark.parametrize("e", [1.0, 0.9, 0.5, 0.2])
def test_a_bounce_returns_e_of_the_speed_but_for_what_the_step_leaves_open(e: float) -> None:
    """The damper, of damping ratio z, acts for a whole step of which the ball is inside for a share: up to pi z / n of
    the speed; a spring that starts within a step adds up to (pi / n)^2 / 4."""
    for steps in (10, 40):
        zeta = 0.5 * bounce(e, 1.0)[1] / math.pi
        found = rebounds(e, steps)
        assert np.abs(found - e).max() < math.pi * zeta / steps + (math.pi / steps) ** 2 / 4
        assert abs(found.mean() - e) < 0.3 / steps


def test_every_pair_has_its_own_restitution_and_one_without_is_as_stiff_as_the_profile() -> None:
    """Three balls are thrown at one wall; by the larger of the two, theirs is 0.8, 0.5, 0."""
    own = (0.8, 0.5, 0.0)
    balls = [ball(f"{e}", position=(2.0 * k, 0.6), velocity=(0.0, -1.0), restitution=e) for k, e in enumerate(own)]
    motion = simulated(MuJoCo(), scene(*balls, ground=ground(), gravity=(0.0, 0.0), duration=0.3), impact_steps=30)
    assert motion.velocity[-1, :2, 1] == approx(np.array(own[:2]), abs=0.03)
    alone = simulated(MuJoCo(), scene(balls[2], ground=ground(), gravity=(0.0, 0.0), duration=0.3))
    assert motion.velocity[-1, 2, 1] == approx(alone.velocity[-1, 0, 1], abs=1e-12)
    assert alone.impact_time == 0.0


def test_what_rests_hops_by_the_fall_of_a_step_and_a_bounce_sinks_in_by_its_speed() -> None:
    """At rest it leaves the contact now and then, falls freely for a step, and bounces from that."""
    still = simulated(MuJoCo(), scene(box(position=(0.0, 0.5), restitution=0.5), ground=ground(), duration=2.0))
    assert np.abs(still.position[:, 0, 1] - 0.5).max() < 3.0 * G * DT**2
    thrown = ball(position=(0.0, 0.6), velocity=(0.0, -1.0), restitution=1.0)
    motion = simulated(MuJoCo(), scene(thrown, ground=ground(), gravity=(0.0, 0.0), duration=0.3))
    assert 0.5 - motion.position[:, 0, 1].min() == approx(10 * DT / math.pi, rel=0.05)


# --- what it cannot be ------------------------------------------------------------------------------------------------


def test_what_mujoco_cannot_represent_it_declines_in_words() -> None:
    assert MuJoCo().declines(scene(ball(), ground=ground(), duration=1.0)) is None
    triangle = [solid(Sphere(radius=0.1), name, position=(float(i), 0.0, 0.0)) for i, name in enumerate("ab")]
    at: dict[str, Any] = {"anchor_a": (0.0, 0.0, 0.0), "axis": (0.0, 0.0, 1.0)}
    ring = (
        Hinge(name="1", a="a", anchor_b=(0.0, 0.0, 0.0), **at),
        Hinge(name="2", a="a", b="b", anchor_b=(-1.0, 0.0, 0.0), **at),
        Hinge(name="3", a="b", anchor_b=(1.0, 0.0, 0.0), **at),
    )
    closed = space(*triangle, joints=ring, duration=1.0)
    assert "'3' closes a loop" in str(MuJoCo().declines(closed))


# --- branched bodies ------------------------------------------------------------------------------------------


def test_walkers_have_so_many_degrees_of_freedom_that_mujoco_picks_the_sparse_jacobian() -> None:
    """From 60 on, where the setting is "auto": stacks and piles of the catalogue are solved by dense matrices."""
    given = walkers().scene
    model = mujoco_model.build_model(given, DT, resolve_settings(MuJoCo(), "default", {}, given, DT))[0]
    assert model.nv == 4 * 22 >= 60
    assert mujoco.mj_isSparse(model)


@pytest.mark.slow
def test_dense_and_sparse_jacobian_agree_on_walkers_but_in_the_release_that_got_the_sparse_one_wrong() -> None:
    """MuJoCo 4.0.0 has a wrong factor of the Hessian there (issue 3767, mended in 4.0.1)."""
    engine, scenario = MuJoCo(), FAMILIES["walkers"].scenario({"n": 3})
    settings = resolve_settings(engine, "default", {}, scenario.scene, DT)
    states = chosen(engine.simulate(scenario.scene, DT, settings), 60)
    moved = perturbed(states, scenario.scene, engine.round_off)
    [relation] = [one for one in engine.relations if "Jacobian" in one.name]
    one, other = (
        one_step(engine, scenario.scene, DT, settings | way, states) for way in (relation.one, relation.other)
    )
    own, condition = (one_step(engine, scenario.scene, DT, settings, at) for at in (states, moved))
    limit = limits(states, own, condition, scenario.scene, relation.agree, engine.round_off)
    assert np.median(limit) < 1e-10
    found = agreed(scenario, states, one, other, limit)
    assert found.met is (mujoco.__version__ != "4.0.0")
    assert found.met or found.size > 0.01
