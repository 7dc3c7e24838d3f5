"""Every canonical scenario is measured on at least three engines where planar, two where spatial."""

from __future__ import annotations

import pytest

from scenarios.scene import PlanarScene
from tests.suite import SUITE
from validation.engines import engine_of, load_engine, present_engines, unavailable_engines

ENGINES = {name: load_engine(engine_of(name)) for name in present_engines()}


@pytest.mark.skipif(bool(unavailable_engines()), reason=f"engines are absent: {', '.join(unavailable_engines())}")
def test_enough_engines_can_represent_each() -> None:
    for scenario in SUITE:
        answers = {name: engine.declines(scenario.scene) for name, engine in ENGINES.items()}
        able = [name for name, reason in answers.items() if reason is None]
        least = 3 if isinstance(scenario.scene, PlanarScene) else 2
        assert len(able) >= least, (scenario.label, answers)
        assert all(reason.strip() for reason in answers.values() if reason is not None), "a declined case has a reason"


def test_the_labels_of_the_suite_are_unique() -> None:
    labels = [scenario.label for scenario in SUITE]
    assert len(set(labels)) == len(labels)
