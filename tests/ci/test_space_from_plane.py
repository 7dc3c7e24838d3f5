"""A few cheap scenes of the planar engine in space: poses and events agree, and what is another scene is seen."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[2] / "ci" / "benchmarks" / "space_from_plane.py"


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("space_from_plane", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "space_from_plane", module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("label", "discs", "rotation"),
    [
        ("thrown-box", "", 0),
        ("slide-to-roll", "cylinder", 1),
        ("triangle-spun", "", 2),  # an accumulation with friction, then another one
        ("hinged-bar-on-a-floor", "", 0),
        ("seesaw", "", 1),  # a slip begins in a plane of contact that turns
        ("newtons-cradle:n=3,gap=0.01,speed=5,restitution=0.5", "sphere", 1),
    ],
)
def test_planar_motions_are_repeated_in_space(benchmark: ModuleType, label: str, discs: str, rotation: int) -> None:
    found = benchmark.compared(benchmark.Job(label=label, discs=discs, rotation=rotation))
    assert not found.missed, found
    assert found.events > 0


def test_another_scene_is_a_miss(benchmark: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ball 1e-7 m smaller in space alone."""
    right = benchmark.shape_in_space

    def smaller(shape: object, discs: str) -> object:
        found = right(shape, discs)
        return found.model_copy(update={"radius": found.radius - 1e-7})

    monkeypatch.setattr(benchmark, "shape_in_space", smaller)
    found = benchmark.compared(benchmark.Job(label="slide-to-roll", discs="sphere", rotation=0))
    assert found.missed
    assert found.pose > 1e-8


def test_what_has_no_counterpart_is_named(benchmark: ModuleType) -> None:
    names = ["towed-body", "slider-crank", "sphere-in-sphere", "moving-plate", "overlapped-start", "thrown-box"]
    jobs, left = benchmark.jobs_of(names, 1)
    assert {job.label.split(":")[0] for job in jobs} == {"thrown-box"}
    assert left["slider-crank"] == "a prismatic joint"
    assert left["sphere-in-sphere"] == "a bowl"
    assert left["moving-plate"] == "a body with given motion"
    assert "overlap at the start" in left["overlapped-start"]
