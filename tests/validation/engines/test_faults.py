"""An error of an adapter of ours says nothing of the engine; one that the engine raised, or a user's adapter, does."""

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pymunk
import pytest

from scenarios.catalogue import scenario_of
from tests.validation.report.made import broken, stored
from validation.engines.engine import resolve_settings
from validation.engines.faults import failure
from validation.engines.mujoco.adapter import MuJoCo
from validation.engines.pymunk.adapter import Pymunk
from validation.engines.pymunk.world import World
from validation.judging.comparison import compare
from validation.running.processes.child import plan, simulate
from validation.running.processes.frames import Reader

SCENARIO = scenario_of("stack:n=2")
SCENE, DT = SCENARIO.scene, 1.0 / 240.0


class Users(Pymunk):
    """A user's adapter, even if it is made of ours."""


def ended(engine: Any) -> dict[str, Any]:
    """How a simulation ends, as a child of the engine's server answers."""
    settings = resolve_settings(engine, "default", {}, SCENE, DT)
    [(header, _)] = Reader().feed(simulate(engine, SCENE, DT, settings))
    return header


def test_what_a_release_does_not_have_is_a_fault_of_our_adapter_and_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(pymunk, "Poly")
    found = ended(Pymunk())
    assert found["outcome"] == "adapter_failed"
    assert found["reason"].startswith("fault of Upright's adapter for pymunk: AttributeError: module 'pymunk' has no")
    assert " at validation/engines/pymunk/world.py:" in found["reason"]
    assert found["reason"].endswith("; please report it")


def test_of_a_users_adapter_the_same_error_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(pymunk, "Poly")
    found = ended(Users())
    assert found["outcome"] == "crashed" and found["reason"].startswith("AttributeError: module 'pymunk' has no")


def test_what_the_engine_raises_in_its_own_python_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(World, "step", lambda self, *, watched: self.space.add(*self.space.shapes))  # a second time
    found = ended(Pymunk())
    assert found["outcome"] == "crashed" and found["reason"].startswith("AssertionError: ")


def test_a_fault_of_our_adapter_before_the_first_step_counts_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pymunk, "fair", None)
    monkeypatch.setattr(Pymunk, "profile", MuJoCo.cannot)  # takes other arguments
    found = plan(Pymunk(), {"profile": "fair", "overrides": {}, "dt": DT}, SCENE)
    assert found["outcome"] == "adapter_failed" and "adapter for pymunk: TypeError: " in found["unavailable"]


@pytest.mark.parametrize(
    ("line", "ours"),
    [
        ("model.no_such_attribute", True),
        ("model.body('none')", True),  # KeyError, by a compiled function
        ("mujoco.mj_step(1.0)", True),  # TypeError, likewise: it has no frame of its own
        ("from mujoco import NoSuchName", True),
        ("import mujoco.no_such_module", True),
        ("np.zeros(3) + np.zeros(4)", True),  # ValueError, as the next three are
        ("np.concatenate([np.zeros(1), np.zeros((1, 1))])", True),
        ("np.linalg.inv(np.zeros((2, 2)))", True),  # raised in numpy
        ("int('one')", True),
        ("1.0 / 0.0", True),
        ("import no_such_engine", False),  # it is not there, or cannot be loaded
        ("mujoco.MjModel.from_xml_string('<mujoco><worldbody><geom/></worldbody></mujoco>')", False),  # ValueError
        ("mujoco.MjModel.from_xml_path('none.xml')", False),
        ("model.opt.gravity.no_such_attribute", True),
        ("read = mujoco.MjModel.from_xml_string\nread('<no')", False),  # by another name
        ("raise RuntimeError('the engine could not make the body')", False),  # what our adapter found out
    ],
)
def test_the_line_of_our_adapter_that_failed_says_whose_fault_it_is(tmp_path: Path, line: str, ours: bool) -> None:
    file = tmp_path / "model.py"
    file.write_text(line)
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    names = {"__name__": "validation.engines.mujoco.model", "mujoco": mujoco, "np": np, "model": model}
    with pytest.raises(Exception) as caught:
        exec(compile(line, str(file), "exec"), names)
    assert failure(caught.value, "mujoco")["outcome"] == ("adapter_failed" if ours else "crashed")


@pytest.mark.parametrize("failed", [0, 1])
def test_a_case_that_our_adapter_failed_in_is_not_compared_on_either_side(failed: int) -> None:
    sides = [stored(), stored()]
    sides[failed] = broken(outcome="adapter_failed", reason="fault of Upright's adapter for toy")
    assert compare(SCENARIO, *sides).sign == "not compared"
