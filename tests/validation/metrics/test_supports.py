"""Whether free bodies of a model stay on what they stood on, and in what held them: where the motion is known."""

from __future__ import annotations

from typing import Any

import pytest

from scenarios.native import Controls, Start
from tests.validation.engines.mujoco_models import PLANE, measured, model_of, motion_of, scene_of

FACTS = ("left its support", "kept its support", "was dropped", "was held")
TABLE = PLANE + "<geom name='table' type='box' size='0.2 0.2 0.1' pos='0 0 0.1'/>"
CUBE = "<geom type='box' size='0.05 0.05 0.05' mass='0.1' friction='{mu}'/>"
BOX = "<body name='box' pos='{x} 0 {z}'><freejoint/>" + CUBE + "</body>"
FINGERS = "".join(
    f"<body name='{name}' pos='0 {side * 0.07} 0.5'><joint name='{name}' type='slide' axis='0 {-side} 0' damping='1'/>"
    "<geom type='box' size='0.02 0.02 0.05' mass='0.1' friction='1'/></body>"
    for name, side in (("left", 1), ("right", -1))
)
MOTORS = "<actuator><motor joint='left'/><motor joint='right'/></actuator>"


def happened(
    bodies: str, more: str = "", start: Start | None = None, duration: float = 1.0
) -> dict[str, tuple[str, ...]]:
    model = model_of(bodies, more=more, **({} if start is None else {"start": start}))
    scene = scene_of(model, duration=duration)
    _, outcomes = measured(scene, motion_of(scene))
    assert all(one.right is None for one in outcomes if one.kind in FACTS)
    return {one.kind: one.bodies for one in outcomes if one.kind in FACTS}


def push(speed: float) -> dict[str, Any]:
    return {"start": Start(values={"qvel": (speed, 0.0, 0.0, 0.0, 0.0, 0.0)})}


def test_what_slides_off_a_table_has_left_it_and_what_friction_stops_has_not() -> None:
    box = BOX.format(x=0.0, z=0.25, mu=0.5)
    assert happened(TABLE + box, **push(0.5)) == {"kept its support": ("box",)}  # v^2 / 2 mu g: 3 cm
    assert happened(TABLE + box, **push(3.0)) == {"left its support": ("box",)}
    assert happened(PLANE + BOX.format(x=0.0, z=1.0, mu=0.5)) == {}  # it stood on nothing


def test_what_stands_on_two_has_left_its_support_where_it_has_left_both() -> None:
    """From one table to the next, of the same height."""
    other = "<geom name='other' type='box' size='0.2 0.2 0.1' pos='0.4 0 0.1'/>"
    box = BOX.format(x=0.2, z=0.25, mu=0.5)
    assert happened(TABLE + other + box, **push(0.5)) == {"kept its support": ("box",)}


@pytest.mark.parametrize("force, fact", [(10.0, "was held"), (0.3, "was dropped")])
def test_two_fingers_hold_a_box_as_far_as_friction_goes(force: float, fact: str) -> None:
    """2 mu F against m g = 0.98 N."""
    start = Start(controls=Controls(rows=((force, force),)))
    found = happened(FINGERS + BOX.format(x=0.0, z=0.5, mu=1.0), MOTORS, start)
    assert found == {fact: ("box",)}


def test_one_wall_beside_a_box_holds_nothing() -> None:
    wall = "<geom type='box' size='0.02 0.2 0.2' pos='0.07 0 0.5'/>"
    assert happened(wall + BOX.format(x=0.0, z=0.5, mu=1.0)) == {}
