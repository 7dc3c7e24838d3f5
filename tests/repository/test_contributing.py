"""CONTRIBUTING.md: each addition that it shows works as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from click.testing import CliRunner
from streamlit.testing.v1 import AppTest

from scenarios.scenario import Scenario
from scenarios.scene import write_scene
from tests.validation.store.made import case, info, result
from validation.metrics.observation import Observation
from validation.records.trajectory import PlanarTrajectory
from validation.store import open_store

PAGE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")


def code_of(section: str) -> str:
    """The Python of a section."""
    code: str = re.findall(rf"## Add a {section}.*?```python\n(.*?)```", PAGE, re.DOTALL)[0]
    return code


def example(section: str) -> ModuleType:
    """As a module."""
    module = ModuleType(section)
    exec(code_of(section), module.__dict__)  # annotations are values here, as in a file of its own
    return module


@pytest.fixture(scope="module")
def fall() -> Scenario:
    scenario: Scenario = example("scenario").FAMILY.scenario({"speed": 5.0})
    return scenario


def test_the_scenario_is_a_scene_with_a_truth_that_a_parabola_has(fall: Scenario) -> None:
    assert '"ball"' in write_scene(fall.scene)
    assert fall.label == "free-fall:speed=5"
    assert fall.truth.pose is not None
    np.testing.assert_allclose(fall.truth.pose(np.array([2 * 5.0 / 9.81]))[0, 0, :2], 0.0, atol=1e-15)


def test_the_metric_measures_how_high_the_ball_gets(fall: Scenario) -> None:
    """v^2 / 2 g."""
    [metric] = example("metric").METRICS
    time = np.array([0.0, 5.0 / 9.81, 1.0])
    assert fall.truth.pose is not None
    pose = np.nan_to_num(fall.truth.pose(time))
    twist = np.stack([0.0 * time, 5.0 - 9.81 * time, 0.0 * time], axis=-1)[:, None, :]
    motion = PlanarTrajectory(time=time, dt=0.1, velocity_lag=0.0, pose=pose, twist=twist)
    measured = metric.of(Observation(scenario=fall, trajectory=motion))
    assert measured.value == pytest.approx(25.0 / (2 * 9.81))
    assert (measured.metric, measured.unit) == ("height_max", "m")


def test_the_command_counts_the_cases_of_an_empty_database(tmp_path: Path) -> None:
    done = CliRunner().invoke(example("command").command, ["--db", str(tmp_path / "new.db")])
    assert (done.exit_code, done.output) == (0, "0\n")


def test_the_page_of_the_dashboard_lists_the_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Streamlit runs it, by the line that the page gives for `app.py`."""
    monkeypatch.setenv("UPRIGHT_DB", str(tmp_path / "x.db"))
    with open_store(tmp_path / "x.db") as store:
        run = store.begin_run(info(), [case("stack")])
        store.save_results(run, [result(case("stack"))])
        store.finish_run(run)
    (tmp_path / "my_page.py").write_text(code_of("page of the dashboard"), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    [line] = re.findall(r"^st\.Page\(.*\)$", PAGE, re.MULTILINE)
    script = f"import my_page\nimport streamlit as st\nst.navigation([{line}]).run()"
    app = AppTest.from_string(script, default_timeout=60).run()
    assert not app.exception, app.exception
    drawn = "\n".join(str(element.proto.body) for element in app.get("html"))
    assert "My page" in drawn and f"run {run}, " in drawn and "<td class='number' data-head='cases'>1</td>" in drawn
