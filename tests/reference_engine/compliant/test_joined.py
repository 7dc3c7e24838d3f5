"""Joints and elastic contact in one motion, against mechanisms, against pendulums in their angles, and by energy."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from reference_engine import (
    CompliantBody,
    CompliantError,
    CompliantMotion,
    CompliantSettings,
    CompliantWorld,
    Coupling,
    Distance,
    Link,
    Material,
    Materials,
    Mechanism,
    PairLaw,
    simulate_compliant,
    simulate_mechanism,
)
from reference_engine.geometry.spatial_shapes import Box, HalfSpace
from reference_engine.multibody.joints import ball, hinge, slider
from scenarios.catalogue import scenario_of
from scenarios.scene import Hinge, SpatialScene
from validation.engines.reference import compliant

FILE = Path(__file__).parents[3] / "ci" / "benchmarks" / "compliant_cradle.py"
RUBBER = Materials(
    materials={"rubber": Material(young_modulus=1e6)},
    pairs={("rubber", "rubber"): PairLaw(restitution=0.7, sliding_friction=0.4)},
)
INERTIA = (0.02, 0.03, 0.04)


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("compliant_cradle", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "compliant_cradle", module)
    spec.loader.exec_module(module)
    return module


def bar(*position: float, **more: Any) -> CompliantBody:
    start: Any = position
    return CompliantBody(
        shape=Box((0.2, 0.02, 0.02)), material="rubber", position=start, mass=1.5, inertia=INERTIA,
        contact_radius=0.02, **more
    )  # fmt: skip


def world(*bodies: CompliantBody, joints: tuple[Any, ...], **more: Any) -> CompliantWorld:
    return CompliantWorld(bodies=bodies, joints=joints, materials=RUBBER, **more)


CHAIN = (
    hinge(-1, 0, (0.0, 1.0, 0.2), first_point=(-0.2, 0.0, 0.0), second_point=(-0.2, 0.0, 0.0)),
    ball(0, 1, first_point=(0.2, 0.0, 0.0), second_point=(-0.2, 0.0, 0.0)),
    Distance(first=1, second=-1, first_point=(0.2, 0.0, 0.0), second_point=(0.6, 0.5, 0.0), length=0.5),
)


def test_what_touches_nothing_moves_as_a_mechanism_does() -> None:
    """A hinge, a ball joint and a rod in a row, in space: by the other integrator of ours, which shares no step."""
    times = np.linspace(0.0, 1.0, 6)
    motion = simulate_compliant(world(bar(0, 0, 0), bar(0.4, 0, 0), joints=CHAIN), times)
    links = tuple(Link(position=(x, 0.0, 0.0), mass=1.5, inertia=INERTIA) for x in (0.0, 0.4))
    truth = simulate_mechanism(Mechanism(links=links, joints=CHAIN), times)
    np.testing.assert_allclose(motion.position, truth.position, atol=1e-11)
    np.testing.assert_allclose(np.abs((motion.orientation * truth.orientation).sum(axis=2)), 1.0, atol=1e-13)
    np.testing.assert_allclose(motion.spin, truth.spin, atol=1e-10)
    assert np.abs(motion.imbalance).max() < 1e-11
    np.testing.assert_array_equal(motion.row_joint, [0, 0, 0, 0, 0, 1, 1, 1, 2])


def test_the_forces_of_a_slider_carry_what_hangs_on_it() -> None:
    """Turned gravity: what the slider must hold is m g across it; along it the body falls freely."""
    joint = slider(-1, 0, (1.0, 0.0, 0.0))
    motion = simulate_compliant(world(bar(0, 0, 0), joints=(joint,), gravity=(3.0, 0.0, -4.0)), [0.0, 0.5])
    np.testing.assert_allclose(motion.position[-1, 0], (0.375, 0.0, 0.0), atol=1e-14)
    np.testing.assert_allclose(np.sqrt((motion.reaction[:, :2] ** 2).sum(axis=1)), 6.0, rtol=1e-13)


def test_a_loop_with_rows_too_many_moves_as_one_without() -> None:
    """A parallelogram of four hinges in space: 20 rows, 17 of which are independent, against ball joints that leave
    the same freedom: hinges for two, a ball and a point on a plane for the others."""
    bodies = bar(0.2, 0, 0), bar(0.4, 0, -0.2, orientation=(math.sqrt(0.5), 0, math.sqrt(0.5), 0)), bar(0.2, 0, -0.4)
    ends = [(-1, 0, (0, 0, 0), (-0.2, 0, 0)), (0, 1, (0.2, 0, 0), (-0.2, 0, 0)), (1, 2, (0.2, 0, 0), (0.2, 0, 0))]
    y = (0.0, 1.0, 0.0)
    hinges = [hinge(a, b, y, first_point=p, second_point=q) for a, b, p, q in ends]
    last: dict[str, Any] = {"first": -1, "second": 2, "first_point": (0, 0, -0.4), "second_point": (-0.2, 0, 0)}
    redundant = Coupling(linear=0, angular=1, axis=y, **last)
    enough = Coupling(linear=1, angular=3, axis=y, **last)
    motions = [simulate_compliant(world(*bodies, joints=(*hinges, joint)), [0.0, 0.3]) for joint in (redundant, enough)]
    assert len(motions[0].row_joint) == 20
    np.testing.assert_allclose(motions[0].position, motions[1].position, atol=1e-12)
    assert np.abs(motions[0].position[-1] - motions[0].position[0]).max() > 0.1


def gate() -> CompliantWorld:
    """A bar on a ball joint that falls on a rubber floor, and a second one that hangs from its end."""
    floor = CompliantBody(shape=HalfSpace((0, 0, -0.3), (0, 0, 1)), material="rubber", fixed=True)
    ends: dict[str, Any] = {"first_point": (0.2, 0.0, 0.0), "second_point": (-0.2, 0.0, 0.0)}
    joints = (ball(-1, 0, first_point=(-0.2, 0, 0), second_point=(-0.2, 0, 0)), ball(0, 1, **ends))
    bodies = (bar(0, 0, 0), bar(0.4, 0, 0))
    return world(*bodies, floor, joints=joints)


def test_energy_and_joints_last_through_impacts_with_friction() -> None:
    motion = simulate_compliant(gate(), np.linspace(0.0, 0.8, 81))
    assert (motion.events.kind == "contact").sum() > 2
    assert motion.dissipated[-1] > 0.1
    assert np.abs(motion.imbalance).max() < 1e-10
    w, x, y, z = np.moveaxis(motion.orientation[:, 0], -1, 0)
    along = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], axis=-1)
    np.testing.assert_allclose(motion.position[:, 0] - 0.2 * along, (-0.2, 0.0, 0.0) * np.ones((81, 1)), atol=1e-12)


def test_a_cradle_on_hinges_converges_and_knows_its_error(benchmark: ModuleType) -> None:
    """Against the angles of the pendulums, by scipy: both errors fall with the tolerance, and are estimated."""
    cradle, times = benchmark.CRADLES[-1], np.linspace(0.0, 0.6, 31)
    angles = benchmark.Pendulums(cradle).run(times)
    given = benchmark.world_of(cradle)

    def off(motion: CompliantMotion) -> float:
        return float(benchmark.distance(cradle, motion.position, angles))

    errors = []
    for tolerance in (1e-8, 1e-9, 1e-10):
        settings = CompliantSettings(tolerance=tolerance, hysteresis=benchmark.HYSTERESIS)
        motion = simulate_compliant(given, times, settings, estimate_error=True)
        assert motion.error_estimate is not None
        assert 0.1 * motion.error_estimate < off(motion) < 10.0 * motion.error_estimate
        errors.append(off(motion))
    assert errors[2] < errors[1] < 0.2 * errors[0] < 1e-9
    fine = CompliantSettings(hysteresis=benchmark.HYSTERESIS)
    assert off(simulate_compliant(given, times, fine, accuracy=1e-9)) < 1e-9


@pytest.mark.parametrize(
    ("joints", "message"),
    [
        ((hinge(-1, 0, (0, 1, 0), first_point=(0, 0, 1e-3)),), r"joints\[0\]: open at the start by 0.001 m"),
        ((ball(0, 3),), r"joints\[0\]: body 3; -1, the world, to 0"),
        ((Distance(first=-1, second=0, length=1.0, rope=True),), r"joints\[0\]: one-sided"),
        ((ball(-1, 0, second_point=(0.0, 1.0)),), r"joints\[0\].second_point: \[0.0, 1.0\]; three numbers"),
        ((Coupling(first=-1, second=0, linear=1, angular=3),), r"joints\[0\].axis: none is given"),
        (("hinge",), r"joints\[0\]: 'hinge'; a Coupling or a Distance"),
    ],
)
def test_joints_that_cannot_be_are_named(joints: Any, message: str) -> None:
    with pytest.raises(CompliantError, match=message):
        simulate_compliant(world(bar(0, 0, 0), joints=joints), [0.0, 0.1])


def test_an_accuracy_that_round_off_hides_is_an_error() -> None:
    with pytest.raises(CompliantError, match="accuracy: 1e-17 m; at the tolerance 1e-14 it is still"):
        simulate_compliant(gate(), [0.0, 0.5], accuracy=1e-17)
    with pytest.raises(CompliantError, match=r"accuracy: 0\.0 m; above 0 and finite"):
        simulate_compliant(gate(), [0.0, 0.5], accuracy=0.0)
    with pytest.raises(CompliantError, match="tolerance: 1e-15; at least 1e-14 with estimate_error"):
        simulate_compliant(gate(), [0.0], CompliantSettings(tolerance=1e-15), estimate_error=True)


def test_a_scene_has_both() -> None:
    """The cradle of the catalogue on hinges: the engine takes it, and its balls stay at their arms' lengths."""
    scene = scenario_of("compliant-cradle").scene
    assert isinstance(scene, SpatialScene)
    joints = tuple(
        Hinge(
            name=f"hinge {i}", a=body.name, axis=(0.0, 1.0, 0.0),
            anchor_a=(0.0, 0.0, 0.4), anchor_b=tuple(np.add(body.position, (0.0, 0.0, 0.4))),
        )
        for i, body in enumerate(scene.bodies)
    )  # fmt: skip
    bodies = (scene.bodies[0].model_copy(update={"spin": (0.0, -2.5, 0.0)}), *scene.bodies[1:])
    hung = scene.model_copy(update={"joints": joints, "bodies": bodies})
    assert compliant.declines(hung) is None
    motion = simulate_compliant(compliant.world_of(hung), [0.0, 0.2])
    assert "contact" in motion.events.kind
    pivots = np.array([joint.anchor_b for joint in joints])
    arms = motion.position[-1, : len(joints)] - pivots
    np.testing.assert_allclose(np.sqrt((arms**2).sum(axis=1)), 0.4, atol=1e-12)
