"""What is peculiar to Box2D: the skin, the threshold of restitution, single precision, its limits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pytest import approx

from scenarios.scene import Bowl, ContactLaw, PairLaw, PlanarBody, Polygon
from tests.validation.engines.planar_scenes import DT, ball, box, ground, rectangle, scene, simulated
from validation.engines.box2d import world as box2d_world
from validation.engines.box2d.adapter import Box2D
from validation.engines.engine import DeclinedError, resolve_settings
from validation.engines.shared.pair_laws import PairLaws

ENGINE = Box2D()
LEVEL = ground(friction=0.5)


def regular(count: int, radius: float = 0.5) -> Polygon:
    turn = 2 * math.pi / count
    return Polygon(vertices=tuple((radius * math.cos(i * turn), radius * math.sin(i * turn)) for i in range(count)))


@pytest.mark.parametrize(
    "inset, rest", [(0.0, 0.015), (0.0075, 0.0), (0.01, -0.005)], ids=["whole", "by 7.5 mm", "by the skin"]
)
def test_boxes_are_pushed_two_skins_less_the_slop_apart_and_an_inset_takes_it_back(inset: float, rest: float) -> None:
    """From a start that overlaps, so that they are pushed apart to the slop and no further."""
    bodies = (box("lower", position=(0.0, 0.49), friction=0.5), box("upper", position=(0.0, 1.475), friction=0.5))
    fixed_ground = PlanarBody(name="slab", shape=rectangle(9.0, 1.0), position=(0.0, -0.5), fixed=True, friction=0.5)
    for given in (
        scene(*bodies, ground=LEVEL, duration=2.0),
        scene(*bodies, fixed_ground, duration=2.0),
    ):
        height = simulated(ENGINE, given, polygon_inset=inset).pose[-1, :2, 1]
        assert height == approx([0.5 + rest, 1.5 + 2 * rest], abs=3e-4)


@pytest.mark.parametrize("start, least, most", [(0.49, 0.0049, 0.0051), (0.6, 0.0049, 0.0101)], ids=["deep", "dropped"])
def test_a_disc_rests_within_the_skin_of_a_polygon(start: float, least: float, most: float) -> None:
    motion = simulated(ENGINE, scene(ball(position=(0.0, start)), ground=LEVEL, duration=2.0))
    assert least <= motion.pose[-1, 0, 1] - 0.5 <= most


def test_reported_gaps_are_those_of_the_skins_which_overlap_by_the_slop() -> None:
    motion = simulated(ENGINE, scene(box(position=(0.0, 0.515)), ground=LEVEL, duration=1.0))
    contacts = motion.contacts
    assert contacts is not None
    assert contacts.gap == approx(-0.005, abs=2e-4)
    assert contacts.point[:, 1] == approx(0.0075, abs=2e-4)  # midway between the drawn faces


def test_below_an_approach_of_one_metre_a_second_there_is_no_restitution() -> None:
    def rebound(speed: float) -> float:
        shot = scene(
            ball(position=(0.0, 1.0), velocity=(0.0, -speed), restitution=0.5),
            ground=ground(restitution=0.5),
            gravity=(0.0, 0.0),
            duration=1.0,
        )
        return float(simulated(ENGINE, shot).velocity[-1, 0, 1])

    assert rebound(0.99) == approx(0.0, abs=1e-3)
    assert rebound(1.01) == approx(0.505, rel=1e-5)


def test_the_state_is_single_precision_to_the_bit() -> None:
    motion = simulated(ENGINE, scene(ball(position=(0.1, 3.3), velocity=(1.7, 0.0), spin=0.3), duration=0.5))
    for array in (motion.pose, motion.twist):
        assert np.array_equal(array, array.astype(np.float32))


def test_state_read_from_memory_is_what_box2d_answers_body_by_body(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three hundred bodies: more than one block of its allocator."""
    bodies = [
        box(f"box {i}", position=(1.2 * (i % 20), 0.6 + 1.1 * (i // 20)), angle=0.01 * i, spin=0.02 * i)
        for i in range(300)
    ]
    crowd = scene(*bodies, ground=LEVEL, duration=0.2)
    assert box2d_world.record_is_known()
    read = simulated(ENGINE, crowd)
    monkeypatch.setattr(box2d_world, "record_is_known", lambda: False)
    asked = simulated(ENGINE, crowd)
    assert read.state_hash == asked.state_hash
    assert np.array_equal(read.pose, asked.pose) and np.array_equal(read.twist, asked.twist)


def test_watching_the_contacts_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from validation.engines.shared.recorder import Recorder

    heap = scene(*(box(f"box {i}", position=(0.1 * i, 0.6 + 1.1 * i)) for i in range(4)), ground=LEVEL, duration=1.0)
    watched = simulated(ENGINE, heap)
    monkeypatch.setattr(Recorder, "wants_contacts", lambda self, step: False)
    unwatched = simulated(ENGINE, heap)
    assert watched.contacts is not None and unwatched.contacts is None
    assert watched.state_hash == unwatched.state_hash


def test_bodies_sleep_out_of_the_box_and_not_in_the_fair_profile() -> None:
    given = scene(ball(), duration=1.0)
    assert resolve_settings(ENGINE, "default", {}, given, DT)["allow_sleep"] is True
    fair = resolve_settings(ENGINE, "fair", {}, given, DT)
    assert fair["allow_sleep"] is False
    assert (fair["velocity_iterations"], fair["position_iterations"]) == (50, 20)
    # A box that would slide for minutes at 5 mm/s: asleep it stands still.
    creeping = scene(box(position=(0.0, 0.515), velocity=(0.005, 0.0)), ground=ground(), duration=2.0)
    assert simulated(ENGINE, creeping, profile="default").velocity[-1, 0, 0] == 0.0
    assert simulated(ENGINE, creeping).velocity[-1, 0, 0] == approx(0.005)


def test_polygons_of_more_vertices_than_it_holds_are_declined() -> None:
    held, too_many = (PlanarBody(name="gear", shape=regular(n), mass=1.0, inertia=1.0) for n in (16, 17))
    assert ENGINE.declines(scene(held, duration=1.0)) is None
    assert ENGINE.declines(scene(too_many, duration=1.0)) == (
        "body 'gear': Box2D holds polygons of at most 16 vertices, this one has 17"
    )


@pytest.mark.parametrize("width", [1e-3, 1e-5, 1e-7])
def test_a_polygon_that_box2d_would_change_or_refuse_is_declined_and_any_other_is_held(width: float) -> None:
    """A corner cut off by `width`: it is either there in Box2D's own shape, or the scene is declined."""
    cut = Polygon(vertices=((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0 - width), (1.0 - width, 1.0), (-1.0, 1.0)))
    reason = ENGINE.declines(scene(PlanarBody(name="cut", shape=cut, mass=1.0, inertia=1.0), duration=1.0))
    tiny = Polygon(vertices=((-width, -width), (width, -width), (0.0, width)))
    tiny_reason = ENGINE.declines(scene(PlanarBody(name="tiny", shape=tiny, mass=1.0, inertia=1.0), duration=1.0))
    for decisions in (reason, tiny_reason):
        assert decisions is None or "Box2D merges" in decisions or "Box2D refuses" in decisions
    assert tiny_reason is not None or width >= 1e-3


def test_an_inset_that_leaves_nothing_of_a_body_is_declined_with_its_name() -> None:
    plate = box("plate", width=1.0, height=0.015, position=(0.0, 1.0))
    with pytest.raises(DeclinedError, match=r"polygon_inset 0.01 m leaves nothing of 'plate'"):
        simulated(ENGINE, scene(plate, duration=0.1), polygon_inset=0.01)


def test_a_bowl_too_small_for_its_shortest_edges_is_declined_and_a_small_one_has_fewer() -> None:
    def with_bowl(radius: float) -> Any:
        body = ball(radius=radius / 4, position=(0.0, -radius / 2))
        return scene(body, boundaries=(Bowl(name="cup", radius=radius),), duration=0.2)

    assert "cup" in (ENGINE.declines(with_bowl(0.01)) or "")
    motion = simulated(ENGINE, with_bowl(0.1))  # 1024 edges would be 0.6 mm long
    assert np.isfinite(motion.pose).all()


def test_an_exception_inside_the_contact_listener_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = (PairLaw(a="a", b="ground", friction=0.1), PairLaw(a="b", b="ground", friction=0.2))
    laws = ContactLaw(pairs=(*pairs, PairLaw(a="a", b="b", friction=0.9)))
    bodies = (box("a", position=(0.0, 0.51)), box("b", position=(5.0, 0.51)))

    def lost(*members: int) -> Any:
        raise LookupError("no such pair")

    monkeypatch.setattr(PairLaws, "of", lost)
    with pytest.raises(LookupError, match="no such pair"):
        simulated(ENGINE, scene(*bodies, ground=ground(), contact=laws, duration=0.1))
