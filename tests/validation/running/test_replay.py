"""Both sides of a comparison take one step from the same states, each in a process of its own engine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenarios.catalogue import scenario_of
from tests.validation.command import kept_servers
from validation import engines
from validation.engines import engine_of
from validation.running.planning import Request, plan_cases
from validation.running.processes.pool import Pool
from validation.running.replay import Pair, relations_of, replays_of
from validation.running.runner import Limits, results_of

LIMITS = Limits(workers=2)
FALL = "thrown-box"

TOY = '''
"""A box that falls; the sum of its forces can be taken in either order, and by a fault one of them leaves a bit out."""
import numpy as np
from validation.engines.engine import Setting, SteppingEngine, able
from validation.engines.relations import Relation
from validation.engines.shared.recorder import SceneWorld
from validation.engines.takes import PLANAR, SOLVER


class Falling(SceneWorld):
    def __init__(self, scene, dt, settings):
        super().__init__(scene, dt)
        self.wrong = settings["fault"] and settings["order"] == "backwards"
        self.lost = settings["lost"]
        self.pull = np.array([*scene.gravity, 0.0])
        self.set_state(*self.start)

    def step(self, *, watched):
        if self.lost:
            raise RuntimeError("the solver found no step")
        self.twist = self.twist + self.dt * self.pull * (0.5 if self.wrong else 1.0)
        self.pose = self.pose + self.dt * self.twist

    def read(self):
        return self.pose, self.twist

    def set_state(self, *state, time=0.0):
        self.pose, self.twist = (np.array(part) for part in state)


class Toy(SteppingEngine):
    name, version = "toy", "1"
    takes = PLANAR | SOLVER
    settings = {
        "order": Setting(default="forwards", choices=("forwards", "backwards"), doc="of the sum"),
        "fault": Setting(default=False, doc="backwards forgets a half"),
        "lost": Setting(default=False, doc="no step is found"),
    }
    abilities = able(set_state="whole", apply_force="", options="")
    relations = (
        Relation(
            name="both orders of the sum agree", one={"order": "forwards"}, other={"order": "backwards"},
            agree="round-off", promise="a sum has no order",
        ),
    )

    def build(self, scene, dt, settings):
        return Falling(scene, dt, settings)
'''


@pytest.fixture(autouse=True)
def servers() -> Iterator[None]:
    with kept_servers():
        yield


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A user's engine, in a module that is found by its name."""
    (tmp_path / "toy_engine.py").write_text(TOY, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]))
    monkeypatch.syspath_prepend(str(tmp_path))
    engines._registered.cache_clear()
    yield
    engines._registered.cache_clear()


def pair_of(pool: Pool, old: str, new: str, scenario: str) -> Pair:
    requests = [Request(scenario=scenario_of(scenario), engine=engine_of(word)) for word in (old, new)]
    plans = plan_cases(pool, requests)
    results = results_of(pool, plans, LIMITS)
    return (plans[0], plans[1]), (results[0], results[1])


def test_a_setting_that_changes_contacts_leaves_every_step_without_contact_as_it_was() -> None:
    """The stack rests on its contacts; of the ball that bounces only the steps at the ground can change."""
    with Pool() as pool:
        pairs = [pair_of(pool, "pymunk", "pymunk:iterations=1", "stack:n=3")]
        pairs += [pair_of(pool, "pymunk", "pymunk:iterations=1", "thrown-box")]
        stack, thrown = replays_of(pool, pairs, LIMITS)
        [again] = replays_of(pool, [pair_of(pool, "pymunk", "pymunk", "stack:n=3")], LIMITS)
    assert stack.greatest is not None and stack.greatest.phase in ("rest", "impact") and stack.greatest.partner
    assert stack.apart > 0.5 * stack.states
    assert all(share.apart == 0 for share in (*stack.shares, *thrown.shares) if share.phase == "flight")
    assert (again.apart, again.greatest, again.claimed) == (0, None, False)
    assert again.own > 1e-6  # cached impulses cannot be set


def test_why_no_step_can_be_taken_is_said() -> None:
    with Pool() as pool:
        [reference] = replays_of(pool, [pair_of(pool, "reference", "reference", "bouncing-ball")], LIMITS)
        [declined] = replays_of(pool, [pair_of(pool, "pymunk", "pymunk", "bouncing-ball:space=spatial")], LIMITS)
    assert reference.reason == "the state of reference cannot be set"
    assert declined.reason == "pymunk has no motion here: pymunk is planar"
    assert (reference.states, declined.claimed) == (0, False)


@pytest.mark.usefixtures("toy")
def test_a_relation_that_held_and_does_not_any_more_makes_the_new_side_worse_and_names_the_state() -> None:
    """Gravity, 9.81 m/s^2, is halved one way: 0.02 m/s in a step of 1/240 s."""
    with Pool() as pool:
        sound, broken = (f"toy_engine.Toy:fault={fault}" for fault in ("false", "true"))
        pairs = [pair_of(pool, *words, FALL) for words in ((sound, broken), (broken, sound), (sound, sound))]
        found = relations_of(pool, pairs, LIMITS)
    assert [one.reason for one in found] == [""] * 3
    worse, better, same = (one.related for one in found)
    assert [one.relation.name for one in worse] == [
        "the same step again gives the same bits",
        "both orders of the sum agree",
    ]
    assert [[one.sign for one in side] for side in (worse, better, same)] == [
        ["same", "worse"],
        ["same", "better"],
        ["same", "same"],
    ]
    before, after = worse[1].sides
    assert before.met and before.size <= before.limit < 1e-9
    assert after.size == pytest.approx(0.5 * 9.81 / 240.0, rel=1e-6)
    assert after.where is not None and after.where.body == "box"


@pytest.mark.usefixtures("toy")
def test_an_engine_that_fails_in_a_step_gives_its_words_for_the_reason() -> None:
    with Pool() as pool:
        (plans, results) = pair_of(pool, "toy_engine.Toy", "toy_engine.Toy", FALL)
        lost = pair_of(pool, "toy_engine.Toy", "toy_engine.Toy:lost=true", FALL)[0][1]
        pair: Pair = ((plans[0], lost), results)
        [replay], [promises] = replays_of(pool, [pair], LIMITS), relations_of(pool, [pair], LIMITS)
    words = "crashed: RuntimeError: the solver found no step"
    assert (replay.reason, promises.reason) == (f"toy_engine.Toy:lost=true: {words}", words)
