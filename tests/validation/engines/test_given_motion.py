"""Bodies of given motion in engines: where they are, what they take along, the work that is counted of it."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from pytest import approx

from scenarios.boundaries import HalfSpace
from scenarios.catalogue import scenario_of
from scenarios.given_motion import PlanarGivenMotion, SpatialGivenMotion, given_state
from scenarios.scene import HalfPlane, PlanarBody, PlanarScene, Revolute, SpatialBody, SpatialScene
from scenarios.shapes import Box, Disc, Ellipsoid, Sphere
from tests.validation.engines.planar_scenes import DT, G, ball, box, rectangle, simulated
from validation.engines import OURS
from validation.engines.engine import resolve_settings
from validation.engines.shared.replay import one_step
from validation.metrics import measure

CLASSES = {"pymunk": "Pymunk", "box2d": "Box2D", "mujoco": "MuJoCo", "rapier": "Rapier", "reference": "Reference"}
CLASSES |= {"pybullet": "PyBullet", "dart": "Dart", "physx": "PhysX"}
STEPPING = [name for name in CLASSES if name != "reference"]
OFF = {"box2d": 0.016, "mujoco": 0.02}  # m: Box2D's skin; MuJoCo's stiff contacts hop
SPATIAL = ["mujoco", "rapier", "pybullet", "dart", "physx"]


def engine_of(name: str) -> Any:
    if name != "reference":
        pytest.importorskip(OURS[name][0])
    return getattr(importlib.import_module(f"validation.engines.{name}.adapter"), CLASSES[name])()


def motion_by(name: str, word: str, dt: float = DT) -> tuple[Any, Any]:
    engine, scenario = engine_of(name), scenario_of(word)
    assert engine.declines(scenario.scene) is None
    settings = resolve_settings(engine, "fair", {}, scenario.scene, dt)
    return scenario, engine.simulate(scenario.scene, dt, settings)


@pytest.mark.parametrize("name", STEPPING)
@pytest.mark.parametrize("word", ["moving-plate", "moving-plate:moved=shaken", "moving-plate:moved=cart"])
def test_the_plate_is_where_it_is_given_and_the_block_where_friction_takes_it(name: str, word: str) -> None:
    scenario, motion = motion_by(name, word, 1 / 960 if name == "mujoco" else DT)
    exact = scenario.truth.pose(motion.time)
    assert motion.pose[:, 1] == approx(exact[:, 1], abs=2e-6)  # single precision
    assert np.abs(motion.pose[:, 0, :2] - exact[:, 0, :2]).max() < OFF.get(name, 0.006)
    rate = [given_state(scenario.scene.bodies[1], t)[1][0] for t in (motion.time + motion.velocity_lag).tolist()]
    most = 10.0 if word.endswith("cart") else 5.0  # m/s^2
    assert motion.velocity[1:, 1, 0] == approx(np.array(rate[1:]), abs=0.51 * most * DT)  # Rapier's is of mid-step


@pytest.mark.parametrize("name", SPATIAL)
@pytest.mark.parametrize("moved", ["shaken", "cart"])
def test_so_it_is_in_space(name: str, moved: str) -> None:
    scenario, motion = motion_by(name, f"moving-plate:moved={moved},space=spatial", 1 / 960)
    exact = scenario.truth.pose(motion.time)
    assert motion.position[:, 1] == approx(exact[:, 1, :3], abs=2e-6)
    assert np.abs(motion.position[:, 0] - exact[:, 0, :3]).max() < OFF.get(name, 0.002)


@pytest.mark.parametrize("name", STEPPING)
def test_a_plate_that_turns_sweeps_a_block_along_and_out(name: str) -> None:
    spatial = ",space=spatial" if name in SPATIAL else ""
    errors = []
    for dt in (DT, DT / 4):
        scenario, motion = motion_by(name, f"turning-plate:spin=1{spatial}", dt)
        exact = scenario.truth.pose(motion.time)
        width = motion.position.shape[2]
        assert np.abs(motion.position[:, 1] - exact[:, 1, :width]).max() < 2e-6
        errors.append(float(np.abs(motion.position[:, 0] - exact[:, 0, :width]).max()))
    assert errors[1] < 0.03 and (name in OFF or errors[1] < 0.6 * errors[0])


@pytest.mark.parametrize("moved", ["belt", "set-off"])
@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_the_reference_takes_what_is_steady_to_round_off(moved: str, space: str) -> None:
    assert_exact(moved, space)


@pytest.mark.parametrize("moved", ["shaken", "cart"])
@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_it_takes_swings_and_knots_within_its_tolerance(moved: str, space: str) -> None:
    assert_exact(moved, space, 5e-12 if space == "planar" else 5e-10)  # a thousand steps of 1e-12 at most


@pytest.mark.parametrize("space", ["planar", "spatial"])
def test_it_takes_turns_within_its_tolerance(space: str) -> None:
    scenario, motion = motion_by("reference", f"turning-plate:space={space}")
    exact = scenario.truth.pose(motion.time)
    assert motion.position == approx(exact[..., : motion.position.shape[2]], abs=1e-11)


def test_in_space_it_moves_as_in_the_plane_between_a_swinging_plate_and_a_fixed_floor() -> None:
    """A ball on a swinging, turning shelf; in the plane nothing else may be fixed, in space a floor far below is."""
    flat = PlanarGivenMotion(amplitude=(0.1, 0.05), frequency=6.0, phase=0.3, spin=-0.4, acceleration=(0.2, 0.0))
    deep = SpatialGivenMotion(
        amplitude=(0.1, 0.0, 0.05), frequency=6.0, phase=0.3, spin=(0.0, 0.4, 0.0), acceleration=(0.2, 0.0, 0.0)
    )
    shelf = PlanarBody(name="shelf", shape=rectangle(1.0, 0.2), fixed=True, position=(0.0, -0.1), motion=flat)
    thrown = PlanarBody(name="ball", shape=Disc(radius=0.1), mass=2.0, inertia=0.008, position=(0.1, 0.1))
    planar = PlanarScene(bodies=(thrown, shelf), duration=0.9)
    box_ = SpatialBody(
        name="shelf", shape=Box(size=(1.0, 1.0, 0.2)), fixed=True, position=(0.0, 0.0, -0.1), motion=deep
    )
    ball_ = SpatialBody(name="ball", shape=Sphere(radius=0.1), mass=2.0, position=(0.1, 0.0, 0.1))
    floor = HalfSpace(name="floor", point=(0.0, 0.0, -9.0))
    spatial = SpatialScene(bodies=(ball_, box_), boundaries=(floor,), duration=0.9)
    reference = engine_of("reference")
    ours, theirs = simulated(reference, spatial), simulated(reference, planar)
    assert ours.impacts.impulse[0, 2] == approx(-theirs.impacts.impulse[0, 1], rel=1e-12)  # the plate comes up
    own, other = (np.flatnonzero(motion.time > 0.0) for motion in (ours, theirs))
    assert ours.time[own] == approx(theirs.time[other])
    assert ours.position[own, 0][:, (0, 2)] == approx(theirs.pose[other, 0, :2], abs=1e-9)
    assert np.abs(ours.position[:, 0, 1]).max() < 1e-12
    assert ours.spin[own, 0, 1] == approx(-theirs.twist[other, 0, 2], abs=1e-7)
    assert ours.contacts is not None and len(ours.contacts.sample) > 20


def assert_exact(moved: str, space: str, within: float = 1e-13) -> None:
    scenario, motion = motion_by("reference", f"moving-plate:moved={moved},space={space}")
    exact = scenario.truth.pose(motion.time)
    assert motion.position == approx(exact[..., : motion.position.shape[2]], abs=within)
    assert motion.contacts is not None and len(motion.contacts.sample)


def test_the_reference_takes_all_of_a_motion_at_once_as_seen_from_the_world() -> None:
    """A ball that bounces from a swinging, turning plate, in flight free: each is a parabola, and energy and momentum
    change by the work of the plate alone. Another engine, with small steps, is near."""
    motion = PlanarGivenMotion(
        velocity=(0.1, 0.2), acceleration=(0.3, -0.2), amplitude=(0.05, 0.1), frequency=7.0, phase=0.4, spin=0.3
    )
    plate = PlanarBody(
        name="plate", shape=rectangle(20.0, 0.5), fixed=True, position=(0.3, -0.25), motion=motion, restitution=0.7
    )
    thrown = ball(position=(0.2, 0.9), restitution=0.7, velocity=(0.5, 0.0))
    scene = PlanarScene(bodies=(thrown, plate), duration=1.2)
    exact = simulated(engine_of("reference"), scene, dt=1e-4)
    assert exact.impacts is not None and len(exact.impacts.time) >= 2
    for k, t in enumerate(exact.time.tolist()):
        assert exact.pose[k, 1] == approx(given_state(plate, t)[0], abs=1e-12)
    landed = exact.impacts.time[0]
    flies = exact.time < landed
    fell = 0.9 - 0.5 * G * exact.time[flies] ** 2
    assert exact.pose[flies, 0, 1] == approx(fell, abs=1e-11)
    assert exact.pose[flies, 0, 0] == approx(0.2 + 0.5 * exact.time[flies], abs=1e-11)
    second = exact.impacts.time[exact.impacts.time > landed + 1e-6].min()
    between = np.flatnonzero((exact.time > landed) & (exact.time < second))
    first, last = between[0], between[-1]
    span = exact.time[last] - exact.time[first]
    fallen = exact.velocity[first, 0] * span + 0.5 * span**2 * np.array([0.0, -G])
    assert exact.pose[last, 0, :2] - exact.pose[first, 0, :2] == approx(fallen, abs=1e-11)
    impulse = exact.impacts.impulse[exact.impacts.time == landed].sum(axis=0)
    jump = exact.velocity[first, 0] - exact.velocity[flies, 0][-1]
    free = np.array([0.0, -G]) * (exact.time[first] - exact.time[flies][-1])
    assert jump - free == approx(impulse / (thrown.mass or 1.0), abs=1e-10)
    near = simulated(engine_of("pymunk"), scene, dt=1e-4)
    rows = [(int(np.argmin(np.abs(near.time - t))), k) for k, t in enumerate(exact.time.tolist()) if t < second]
    same = [(i, k) for i, k in rows if abs(near.time[i] - exact.time[k]) < 1e-9]
    assert len(same) > 20
    assert near.pose[[i for i, _ in same], 0, :2] == approx(exact.pose[[k for _, k in same], 0, :2], abs=5e-3)


def test_what_it_has_no_method_for_it_declines_in_words() -> None:
    reference = engine_of("reference")
    shaken = scenario_of("moving-plate:moved=shaken,space=spatial").scene
    egg = shaken.bodies[0].model_copy(update={"shape": Ellipsoid(semi_axes=(0.2, 0.2, 0.1))})
    assert "ellipsoid" in str(reference.declines(shaken.model_copy(update={"bodies": (egg, shaken.bodies[1])})))
    belt = scenario_of("moving-plate").scene
    ground = HalfPlane(name="ground", point=(0.0, -5.0))
    assert "nothing else is fixed" in str(reference.declines(belt.model_copy(update={"boundaries": (ground,)})))


@pytest.mark.parametrize("name", STEPPING)
def test_the_work_of_a_belt_is_what_the_block_gains_and_what_slip_loses(name: str) -> None:
    """m u^2: one half is the block's energy, the other heat."""
    scenario, motion = motion_by(name, "moving-plate")
    assert motion.internals.given[-1] == approx(2.25, rel=0.02)
    found = {m.metric: m.value for m in measure(scenario, motion)}
    assert found["given_work"] == motion.internals.given[-1]
    if name in ("pymunk", "rapier"):
        assert found["energy_gain"] < 1e-8


def test_where_something_else_acts_too_the_energy_is_not_judged() -> None:
    plate = PlanarBody(name="plate", shape=rectangle(4.0, 0.5), fixed=True, position=(0.0, -0.25),
                       motion=PlanarGivenMotion(velocity=(1.0, 0.0)))  # fmt: skip
    thrown = ball(position=(0.0, 0.6))
    given = PlanarScene(bodies=(thrown, plate), boundaries=(HalfPlane(name="far", point=(0.0, -9.0)),), duration=0.2)
    motion = simulated(engine_of("pymunk"), given)
    assert motion.internals is None


@pytest.mark.parametrize("name", STEPPING)
def test_it_turns_and_passes_through_what_is_fixed(name: str) -> None:
    turning = PlanarBody(name="turning", shape=rectangle(4.0, 0.5), fixed=True, position=(0.0, 5.0),
                         motion=PlanarGivenMotion(spin=2.0, velocity=(0.0, -3.0)))  # fmt: skip
    post = PlanarBody(name="post", shape=rectangle(0.5, 0.5), fixed=True, position=(0.0, 4.0))
    falling = box(position=(20.0, 9.0))
    given = PlanarScene(bodies=(falling, turning, post), boundaries=(HalfPlane(name="ground"),), duration=1.0)
    motion = simulated(engine_of(name), given)
    assert motion.pose[-1, 1] == approx([0.0, 2.0, 2.0], abs=1e-5)
    assert motion.pose[-1, 2] == approx([0.0, 4.0, 0.0], abs=1e-12)
    assert motion.position[-1, 0, 1] == approx(9.0 - 0.5 * G, abs=0.03)


@pytest.mark.parametrize("name", STEPPING)
def test_a_step_from_a_recorded_state_is_the_step_that_was_made(name: str) -> None:
    """On the swinging plate, from where it is at that time."""
    scenario, motion = motion_by(name, "moving-plate:moved=shaken")
    engine = engine_of(name)
    settings = resolve_settings(engine, "fair", {}, scenario.scene, DT)
    after = one_step(engine, scenario.scene, DT, settings, motion)
    pairs = np.flatnonzero(np.isclose(np.diff(motion.time), DT))
    assert len(pairs) > 10
    assert after.pose[pairs, 1] == approx(motion.pose[pairs + 1, 1], abs=4e-6)
    assert after.pose[pairs, 0] == approx(motion.pose[pairs + 1, 0], abs=0.01)


@pytest.mark.parametrize("name", ["mujoco", "pybullet", "dart"])
def test_a_joint_to_such_a_body_is_declined_by_name(name: str) -> None:
    belt = scenario_of("moving-plate").scene
    pin = Revolute(name="pin", a="block", b="plate", anchor_a=(0.0, 0.0), anchor_b=(0.0, 0.35))
    reason = engine_of(name).declines(belt.model_copy(update={"joints": (pin,)}))
    assert "joint 'pin' ties a body of given motion" in str(reason)
