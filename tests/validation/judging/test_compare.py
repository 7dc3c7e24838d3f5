"""What changed between two versions: signed by a law where one says which way is better."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scenarios.catalogue import scenario_of
from tests.effort import few
from tests.validation import wheels
from tests.validation.command import call, kept_servers, upright
from tests.validation.judging.test_ensembles import ensemble, evidence, series, spread
from tests.validation.store.made import case, falling, info, measurement, result
from validation.engines import present_engines
from validation.judging.comparison import compare, is_chaotic, settings_apart
from validation.metrics import METRICS
from validation.records.case import Result
from validation.records.measurement import Measurement
from validation.records.simulation import Simulation
from validation.report.comparison import counts, render_comparison
from validation.report.sentences import describe_comparison
from validation.running import comparing, result_cache
from validation.running.comparing import Compared
from validation.running.kernel_cache import cache_root
from validation.running.options import Progress
from validation.running.runner import Limits
from validation.running.warm_up import standing_still
from validation.store import open_store
from validation.store.stored_scenarios import stored_verdicts

STACK_LAWS = scenario_of("stack:n=3").laws
STACK = replace(scenario_of("stack:n=3"), laws={"penetration_max": 0.1})


def side(*measurements: Measurement, outcome: str = "completed", reason: str = "", **of: Any) -> Result:
    moves = outcome == "completed"
    trajectory = replace(standing_still(STACK.scene), state_hash=repr(measurements)) if moves else None
    simulation = Simulation(outcome=outcome, reason=reason, trajectory=trajectory)  # type: ignore[arg-type]  # parametrised by its words
    return Result.of(case=case(**of), simulation=simulation, measurements=measurements, headline="penetration_mean")


def depth(value: float) -> Measurement:
    return measurement(value=value)


def test_every_metric_of_which_less_is_better_names_its_law_and_no_other_does() -> None:
    assert all(bool(metric.law) == (metric.better == "lower") for metric in METRICS.values())


@pytest.mark.parametrize(("old", "new", "sign"), [(1e-3, 2e-3, "worse"), (2e-3, 1e-3, "better"), (1e-3, 1e-3, "same")])
def test_overlap_is_signed_by_the_law_that_bodies_do_not_overlap(old: float, new: float, sign: str) -> None:
    found = compare(STACK, side(depth(old)), side(depth(new)))
    assert found.sign == sign and found.identical == (sign == "same")
    assert [(change.sign, change.law) for change in found.changes] == [] if sign == "same" else [(sign, "no overlap")]


def test_what_no_law_says_anything_of_is_merely_different() -> None:
    found = compare(
        STACK,
        side(measurement("rest_time", 0.5, "s", better="neither")),
        side(measurement("rest_time", 0.2, "s", better="neither")),
    )
    assert found.sign == "different" and [change.law for change in found.changes] == [""]


def test_one_run_of_a_chaotic_motion_tells_neither_better_nor_worse() -> None:
    found = compare(
        STACK, side(measurement(value=1e-3, noise="chaotic")), side(measurement(value=1.0, noise="chaotic"))
    )
    assert found.sign == "different" and found.changes[0].law == ""


def test_perturbed_starts_of_both_sides_tell_which_chaotic_motion_is_worse() -> None:
    sides = [side(measurement(value=value, noise="chaotic")) for value in (1e-3, 2e-3)]
    assert is_chaotic(compare(STACK, *sides)) and not is_chaotic(compare(STACK, side(depth(1e-3)), side(depth(1.0))))
    found = compare(STACK, *sides, evidence(ensemble(series(spread(1e-3))), ensemble(series(spread(2e-3)))))
    assert found.sign == "worse" and [change.law for change in found.changes] == ["no overlap"]
    same = compare(STACK, *sides, evidence(ensemble(series(spread(1e-3))), ensemble(series(spread(1e-3, seed=1)))))
    assert same.sign == "same"


def test_stored_runs_are_compared_with_the_laws_and_ensembles_that_are_stored(tmp_path: Path) -> None:
    limit = STACK_LAWS["penetration_max"]
    of = case("stack", parameters={"n": 3})
    rough = [
        result(of, measurement(value=value, noise="chaotic"), measurement("penetration_max", depth))
        for value, depth in ((1e-3, 0.5 * limit), (2e-3, 2.0 * limit))
    ]
    sides = [
        replace(one, trajectory=replace(falling(), state_hash=name), trajectory_hash=name)
        for one, name in zip(rough, "ab")
    ]
    with open_store(tmp_path / "x.db") as store:
        for one, middle in zip(sides, (1e-3, 2e-3)):
            run = store.begin_run(info(), [of])
            store.save_results(run, [one])
            store.save_ensembles(run, {of.key: ensemble(series(spread(middle)))})
        pair = store.results(1)[0], store.results(2)[0]
        (verdict,) = stored_verdicts(store, [pair])
        assert verdict.word == "defect" and [defect.metric for defect in verdict.defects] == ["penetration_max"]
        moves = {change.metric: change.move for change in verdict.changes}
        assert moves == {"penetration_mean": "regressed", "penetration_max": "regressed"}
        (back,) = stored_verdicts(store, [pair[::-1]])
        assert back.word == "improved" and back.standing == ()


def test_worse_in_one_metric_and_better_in_another_is_worse_and_shows_both() -> None:
    found = compare(
        STACK,
        side(depth(1e-3), measurement("rest_drift", 2e-3)),
        side(depth(2e-3), measurement("rest_drift", 1e-3)),
    )
    assert found.sign == "worse" and [change.sign for change in found.changes] == ["worse", "better"]


def test_a_law_that_only_one_side_breaks_is_said() -> None:
    shallow, deep = side(measurement("penetration_max", 0.09)), side(measurement("penetration_max", 0.11))
    assert describe_comparison(compare(STACK, shallow, deep)).startswith(
        "breaks a law: penetration max 110 mm (physics allows 100 mm)"
    )
    assert describe_comparison(compare(STACK, deep, shallow)).startswith(
        "no longer breaks a law: penetration max 110 mm"
    )
    assert [compare(STACK, *pair).sign for pair in ((shallow, deep), (deep, shallow))] == ["worse", "better"]


@pytest.mark.parametrize(
    ("old", "new", "sign"),
    [
        ("completed", "crashed", "worse"),
        ("timed_out", "completed", "better"),
        ("crashed", "crashed", "same"),
        ("declined", "completed", "different"),
        ("declined", "declined", "declined"),
    ],
)
def test_outcomes_are_compared_before_metrics(old: str, new: str, sign: str) -> None:
    sides = [side(*[depth(1e-3)] * (word == "completed"), outcome=word, reason="why") for word in (old, new)]
    found = compare(STACK, *sides)
    assert found.sign == sign and "why" in describe_comparison(found)


def test_the_table_tells_what_else_differs_between_the_sides() -> None:
    old, new = side(depth(1e-3), settings={"iterations": 50}), side(depth(3e-3), settings={"iterations": 2})
    found = [compare(STACK, old, new)]
    assert settings_apart(found) == {"iterations": (50, 2)}
    done = Compared(names=("a==1", "a==2"), comparisons=found, packages={"numpy": ("1.26.4", "2.4.6")}, planned=1)
    text = render_comparison(done, number=1, everything=True)
    assert counts(found) == "1 worse, 0 better, 0 different, 0 same"
    for words in ("penetration mean", "1 mm", "3 mm", "no overlap", "iterations: 50 → 2", "numpy: 1.26.4 → 2.4.6"):
        assert words in text


# --- the command ----------------------------------------------------------------------------------------------------


@pytest.fixture
def fresh(tmp_path: Path) -> str:
    """A cache folder with the kernels that there are, and no environment and no result."""
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "kernels").symlink_to(cache_root() / "kernels")
    return str(cache)


@pytest.fixture
def shelf(tmp_path: Path, fresh: str) -> dict[str, str]:
    """The environment variables with which toy 1.0 is installed and 2.0, which does not sink any more, is a wheel."""
    (tmp_path / "shelf").mkdir()
    wheels.wheel(tmp_path / "shelf", "2.0", 0.0)
    site = wheels.installed(tmp_path / "site", "1.0", 0.05)
    before = os.environ.get("PYTHONPATH")
    paths = os.pathsep.join([str(site), *([before] if before else [])])
    return {**wheels.from_wheels(tmp_path / "shelf"), "PYTHONPATH": paths, "UPRIGHT_CACHE": fresh}


@pytest.mark.slow
def test_a_version_that_no_longer_sinks_is_better_and_the_way_back_worse(tmp_path: Path, shelf: dict[str, str]) -> None:
    """5 cm/s is 1 m in the 20 s of the scene."""
    done = upright("compare", "toy", "toy==2.0", "upright-block", "stack:n=3", folder=tmp_path, **shelf)
    assert done.returncode == 0, done.stderr
    assert "toy 1.0 → toy==2.0: nothing got worse: upgrade. Better in 2 of 2 scenarios." in done.stdout
    assert "Better: went through" in done.stdout, "what happened stands before any number"
    assert "environment of toy==2.0 ... done" in done.stderr
    done = upright("compare", "toy==2.0", "toy", "upright-block", "--json", folder=tmp_path, **shelf)
    assert done.returncode == 1 and "environment of" not in done.stderr
    [line] = [json.loads(text) for text in done.stdout.splitlines()]
    assert line["sign"] == "worse" and "went through" in line["told"]
    assert "breaks a law: penetration max" in line["told"]
    assert [line[key]["engine_version"] for key in "ab"] == ["2.0", "1.0"]
    assert line["divergence"]["first"]["body"] == "block" and line["divergence"]["first"]["coordinate"] == "y"
    depths = {change["metric"]: (change["sign"], change["law"]) for change in line["changes"]}
    assert depths["penetration_max"] == ("worse", "no overlap")
    done = upright("run", "upright-block", "--engine", "toy==2.0", "--json", folder=tmp_path, **shelf)
    assert json.loads(done.stdout)["engine_version"] == "2.0", "run takes another version by the same word"


@pytest.mark.slow
def test_settings_are_compared_without_any_environment(tmp_path: Path, fresh: str) -> None:
    scene = tmp_path / "mine.json"
    scene.write_text(upright("scenarios", "stack:n=5", "--json", folder=tmp_path).stdout)
    words = ("compare", "pymunk", "pymunk:iterations=1", "--scene", str(scene), "--profile", "fair", "--ensemble", "10")
    done = upright(*words, folder=tmp_path, UPRIGHT_DB="", UPRIGHT_CACHE=fresh)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "mine.json:content=" in done.stdout and "setting iterations: 50 → 1" in done.stdout
    assert "perturbed initial states: 2/2" in done.stderr, "a heap is no matter of one run"
    with open_store(tmp_path / "upright.db") as store:
        (kept,) = store.comparisons()
        assert kept.counts == {"worse": 1} and store.runs() == [], "apart from the runs"
        (line,) = [json.loads(text) for text in store.comparison_lines(kept.number)]
    assert f"upright show {line['label']} --comparison 1" in done.stdout
    shown = upright("show", line["label"], "--comparison", "1", "--html", "both.html", folder=tmp_path, UPRIGHT_DB="")
    page = (tmp_path / "both.html").read_text()
    assert shown.returncode == 0 and "wrote both.html" in shown.stdout, shown.stderr
    assert page.count('"label": "pymunk') == 2, "both sides beside each other"
    shown = upright("show", "stack:n=4", "--comparison", "1", "--html", "none.html", folder=tmp_path, UPRIGHT_DB="")
    assert shown.returncode == 2
    assert f"comparison 1: no motion of stack:n=4; it keeps the worst of each cause: {line['label']}" in shown.stderr


def test_an_engine_against_itself_is_the_same_to_the_last_bit(tmp_path: Path) -> None:
    done = upright("compare", "pymunk", "pymunk", "stack:n=3", "thrown-box", folder=tmp_path, UPRIGHT_DB="")
    assert "Stored as comparison 1 in upright.db." in done.stdout
    assert done.returncode == 0 and "0 worse, 0 better, 0 different, 4 same (4 to the last bit)" in done.stdout


def test_each_of_several_is_compared_with_the_one_before(tmp_path: Path) -> None:
    """One iteration leaves blocks deeper in one another; the ten of out of the box are the other two."""
    words = ("compare", "pymunk", "pymunk", "pymunk:iterations=1", "stack:n=5", "--profile", "default")
    done = upright(*words, "--ensemble", "0", folder=tmp_path, UPRIGHT_DB="")
    assert done.returncode == 1, done.stderr
    assert [f"Stored as comparison {k} in upright.db." in done.stdout for k in (1, 2, 3)] == [True, True, False]
    *_, first, same, worse, _, _, summary = done.stdout.splitlines()
    assert first.endswith("the first: 1 case") and "1 same (1 to the last bit)" in same and " 1 worse" in worse
    assert summary.startswith("3 engines ran; something changed in pymunk:iterations=1 ")


@pytest.mark.skipif("mujoco" not in present_engines(), reason="MuJoCo, whose settings have choices, is not here")
@pytest.mark.slow
def test_options_are_varied_one_at_a_time_on_both_sides(tmp_path: Path) -> None:
    words = ("compare", "mujoco:cone=elliptic", "mujoco:cone=elliptic", "upright-block", "--profile", "default")
    done = upright(*words, "--options", "--json", folder=tmp_path)
    lines = [json.loads(text) for text in done.stdout.splitlines()]
    assert done.returncode == 0 and all(line["identical"] for line in lines)
    varied = [line["variant"] for line in lines]
    assert varied[0] == "" and len(set(varied)) == len(varied)
    assert {"integrator=rk4", "integrator=implicit", "solver=cg", "jacobian=sparse"} <= set(varied)
    assert not any("cone" in variant or variant in ("integrator=euler", "solver=newton") for variant in varied)
    rk4 = next(line for line in lines if line["variant"] == "integrator=rk4")
    for side in "ab":
        assert (rk4[side]["settings"]["integrator"], rk4[side]["settings"]["cone"]) == ("rk4", "elliptic")


@pytest.mark.parametrize(
    ("words", "message"),
    few(
        1,
        [
            (("toy", "toy", "stak"), "unknown scenario 'stak'; did you mean 'stack'?"),
            (("toy==3", "toy"), "toy-engine==3: there is no such version; pip has 2.0"),
        ],
    ),
)
def test_what_cannot_be_compared_is_told_in_a_line(
    words: tuple[str, ...], message: str, tmp_path: Path, shelf: dict[str, str]
) -> None:
    done = upright("compare", *words, folder=tmp_path, **shelf)
    assert done.returncode == 2 and done.stdout == ""
    assert message in done.stderr and len(done.stderr.splitlines()) <= 2


@pytest.mark.slow
def test_what_is_stopped_answers_with_what_it_has_and_goes_on_from_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Ctrl-C after the first scenario has run on both sides; the same comparison then runs the other one only."""
    monkeypatch.setattr(result_cache, "cache_root", lambda: tmp_path)
    execute, ran = result_cache.execute, []

    def interrupted(pool: Any, plans: Any, limits: Any, on_result: Any) -> Any:
        ran.append([plan.case.label for plan in plans])
        if len(ran) == 1:
            execute(pool, plans[:2], limits, on_result)
            raise KeyboardInterrupt
        return execute(pool, plans, limits, on_result)

    monkeypatch.setattr(result_cache, "execute", interrupted)
    sides, scenarios = ("pymunk", "pymunk:iterations=51"), ["bouncing-ball", "ball-with-drag"]
    given: dict[str, Any] = {"profile": "fair", "dt": None, "limits": Limits(), "progress": Progress()}
    with kept_servers():
        done = comparing.compare_engines(sides, scenarios, **given)
        assert (done.stopped, done.compared, done.planned) == (True, 1, 2)
        done = comparing.compare_engines(sides, scenarios, **given)
    assert (done.stopped, done.compared, done.planned) == (False, 2, 2)
    assert ran[1] == ["ball-with-drag"] * 2 and not any(ran[2:])


def test_a_stopped_command_stores_what_it_has_and_ends_with_2_unless_something_is_worse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UPRIGHT_DB", raising=False)
    for values, status in (((1e-3, 1e-3), 2), ((1e-3, 0.5), 1)):
        found = compare(STACK, *(side(depth(value)) for value in values))
        done = Compared(names=("a==1", "a==2"), comparisons=[found], packages={}, planned=40, stopped=True)
        monkeypatch.setattr(comparing, "compare_engines", lambda *_, done=done, **given: done)
        code, out, err = call(monkeypatch, capsys, "compare", "pymunk", "pymunk:iterations=51")
        assert code == status and "after 1 of 40 cases" in out
        assert "stopped: 1 of 40 cases are compared. Go on: the same command" in err
    with open_store("upright.db") as store:
        assert [one.counts["not run"] for one in store.comparisons()] == [39, 39]


def test_a_command_that_is_stopped_before_anything_ran_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: Any, **given: Any) -> Compared:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(comparing, "compare_engines", stopped)
    code, out, err = call(monkeypatch, capsys, "compare", "pymunk", "pymunk:iterations=51")
    assert (code, out) == (2, "") and err.startswith("stopped before anything was compared. Go on: the same command")
