"""Contacts that share no moving body have nothing to do with each other, and cost nothing together."""

import numpy as np
import pytest

from reference_engine import Body, Disc, Settings, World, box, simulate
from reference_engine.compiler.structure import zeros
from reference_engine.planar import islands
from reference_engine.planar.layout import BODY_I, BODY_J, Contacts, Work
from reference_engine.planar.run import Run
from reference_engine.planar.workspace import FIRST_BLOCK, sizes_of
from tests.reference_engine.planar.worlds import GRAVITY, face_forces, ground, pack_model, stack


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels run as plain Python: they have no entry from it."""
    for name in ("is_loose", "root_of", "divide"):
        kernel = getattr(islands, name)
        monkeypatch.setattr(islands, name, getattr(kernel, "py_func", kernel))


def islands_of(world: World, pairs: list[tuple[int, int]]) -> list[list[int]]:
    """The contacts of each island, where bodies touch at these pairs."""
    sizes = sizes_of(len(world.bodies) + 1, 0, 0, len(pairs), 2)
    contacts, work = zeros(Contacts, sizes), zeros(Work, sizes)
    contacts.id[:, [BODY_I, BODY_J]] = pairs
    count = islands.divide(pack_model(world), contacts, len(pairs), work)
    return [work.order[work.first_contact[s] : work.first_contact[s + 1]].tolist() for s in range(count)]


@pytest.mark.usefixtures("plain")
def test_places_belong_together_through_bodies_that_move_and_not_through_the_ground():
    discs = [Body(shape=Disc(0.5), position=(2.0 * k, 0.5)) for k in range(5)]
    world = World(bodies=(ground(), *discs))
    assert islands_of(world, [(1, 0), (2, 0), (3, 0)]) == [[0], [1], [2]]
    assert islands_of(world, [(1, 0), (2, 0), (2, 3), (4, 0), (5, 3)]) == [[0], [1, 2, 4], [3]]
    assert islands_of(world, [(4, 5), (2, 3), (1, 2), (3, 4)]) == [[0, 1, 2, 3]]
    assert islands_of(world, [(1, 0), (0, 1)]) == [[0, 1]]


def test_stacks_beside_one_another_stand_as_if_each_were_alone():
    alone = stack(5, mass_ratio=100.0).bodies[1:]
    beside = [
        Body(shape=box(1.0, 1.0), position=(b.position[0] + 3.0 * k, b.position[1]), mass=b.mass * (1 + k))
        for k in range(3)
        for b in alone
    ]
    motion = simulate(World(bodies=(ground(), *beside), restitution=0.0, friction=0.5), 1.0, 0.25)
    for k in range(3):
        masses = np.array([body.mass for body in beside[5 * k : 5 * k + 5]])
        for i in range(5):
            carried = face_forces(motion, 0 if i == 0 else 5 * k + i, 5 * k + i + 1)
            np.testing.assert_allclose(carried, GRAVITY * masses[i:].sum(), rtol=1e-12)


def test_an_impact_of_one_does_not_touch_the_speeds_of_another_at_the_same_instant():
    """Two discs land at once: one alone, the other onto a third that rests. Newton's e holds for each."""
    fall = [Body(shape=Disc(0.5), position=(0.0, 1.5)), Body(shape=Disc(0.5), position=(5.0, 2.5))]
    world = World(bodies=(ground(), *fall, Body(shape=Disc(0.5), position=(5.0, 0.5))), restitution=0.5)
    motion = simulate(world, 0.5, 0.1, Settings(impact_order="simultaneous"))
    first = motion.impacts.time[0]
    assert first == pytest.approx(np.sqrt(2.0 / GRAVITY), abs=1e-12)
    after = motion.twist[np.searchsorted(motion.time, first, side="right") - 1, 1:, 1]
    np.testing.assert_allclose(after, [0.5 * GRAVITY * first, 0.5 * GRAVITY * first, 0.0], atol=1e-12)


def test_room_grows_with_the_largest_island_and_not_with_the_world():
    blocks = [Body(shape=box(1.0, 0.5), position=(2.0 * k, 0.25), velocity=(0.5, 0.0)) for k in range(40)]
    run = Run(World(bodies=(ground(), *blocks), friction=0.3), Settings(), np.array([0.0, 0.01]))
    run.go_on()
    assert run.arrays.work.M.shape == run.arrays.event.problem.A.shape == (FIRST_BLOCK, FIRST_BLOCK)
    pile = Run(stack(30), Settings(), np.array([0.0, 0.01]))
    pile.go_on()
    assert FIRST_BLOCK < 2 * 60 <= len(pile.arrays.work.M) <= 4 * 60
