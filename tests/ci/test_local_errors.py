"""One step of an engine against the exact one: where its method is exact it errs by round-off."""

from __future__ import annotations

import importlib.util
from collections import defaultdict
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from validation.engines.shared import recorder

FILE = Path(__file__).parents[2] / "ci" / "benchmarks" / "local_errors.py"


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("local_errors", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, "local_errors", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(recorder, "BASE_RATE", 2.0 / module.STEP)
    return module


@pytest.mark.slow
def test_pymunk_s_velocities_at_its_own_time_slide_roll_and_rest_to_round_off(benchmark: ModuleType) -> None:
    """With constant friction semi-implicit steps are exact, once the lag is taken out: it would show as mu g dt / 2."""
    found = defaultdict(list)
    for scene in ("thrown-box", "slide-to-roll"):
        exact = benchmark.exact_steps(scene, 12)
        assert not isinstance(exact, str)
        for phase, size in benchmark.errors("pymunk", exact):
            found[phase].append(size)
    assert {"sliding", "rolling", "rest"} <= set(found)
    assert all(np.median(found[phase]) < 1e-10 for phase in ("sliding", "rolling", "rest"))


def test_an_engine_that_declines_has_no_errors_and_a_scene_without_exact_steps_says_why(benchmark: ModuleType) -> None:
    exact = benchmark.exact_steps("bouncing-ball", 3)
    assert benchmark.errors("mujoco", exact) is not None
    in_space = benchmark.exact_steps("heavy-top", 3)
    assert not isinstance(in_space, str) and benchmark.errors("pymunk", in_space) is None
    assert isinstance(benchmark.exact_steps("roller-coaster", 3), str)  # the reference engine has no tracks
