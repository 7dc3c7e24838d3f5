"""Accept means the cases that are named, all of them, or nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scenarios.catalogue import scenario_of
from scenarios.scenario import Scenario
from scenarios.scene import content_hash, write_scene
from tests.suite import SUITE
from tests.validation.command import call
from tests.validation.store.made import failed, falling, info, judged, measurement, result
from validation.records.case import Case, Identity, Result
from validation.store import open_store

Accept = Callable[..., tuple[int, str, str]]


def case(of: Scenario | str, engine: str = "pymunk", profile: str = "fair", **settings: Any) -> Case:
    """As a run plans it."""
    scenario = scenario_of(of) if isinstance(of, str) else of
    overrides = ",".join(f"{name}={value}" for name, value in settings.items())
    return Case(
        identity=Identity(
            scenario=scenario.name,
            given=json.dumps(scenario.given, sort_keys=True),
            engine=engine,
            profile=profile,
            dt=1 / 240,
            platform="linux-x86_64",
        ),
        label=scenario.label,
        engine_label=f"{engine}:{overrides}" if overrides else engine,
        scene_hash=content_hash(scenario.scene),
        engine_version="7.3.1",
        settings={"iterations": 50, "slop": 1e-3} | settings,
        parameters=scenario.parameters_json,
    )


@pytest.fixture
def accept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Accept:
    """`upright accept WORDS --reason x` in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UPRIGHT_DB", raising=False)
    return lambda *words: call(monkeypatch, capsys, "accept", *words, "--reason", "x", "--who", "R.")


def stored(*cases: Case) -> None:
    """One finished run of these, in the database of the current folder."""
    scenes = [scenario_of(c.label).scene for c in cases if "content" not in c.parameters]
    with open_store("upright.db") as store:
        run = store.begin_run(info(), cases, scenes)
        store.save_results(run, [result(c) for c in cases])
        store.finish_run(run)


def accepted() -> list[tuple[str, str, str]]:
    """(label, engine as typed, profile) of what is in effect, in the order of the run."""
    with open_store("upright.db") as store:
        found = sorted(store.baselines("main").values(), key=lambda baseline: baseline.result.number)
    return [(b.result.case.label, b.result.case.engine_label, b.result.case.identity.profile) for b in found]


def test_a_profile_that_is_named_is_the_only_one_accepted(accept: Accept) -> None:
    stored(*[case("stack", profile=profile) for profile in ("default", "fair")])
    code, out, _ = accept("stack", "--engine", "pymunk@default")
    assert code == 0 and "accepted 1 case of run 1" in out
    assert accepted() == [("stack", "pymunk", "default")]
    assert "accepted 2 cases of run 1" in accept("stack", "--engine", "pymunk")[1]


def test_parameters_at_their_defaults_name_the_same_case(accept: Accept) -> None:
    stored(case("stack"), case("stack:n=3"))
    assert accept("stack:n=10")[0] == 0
    assert accepted() == [("stack", "pymunk", "fair")]


@pytest.mark.parametrize(
    ("words", "lacking"),
    [
        (["stack:n=5"], "run 1 has no stack:n=5 (it has: stack × pymunk@fair); nothing was accepted"),
        (["stack", "stack:n=5"], "run 1 has no stack:n=5 (it has: stack × pymunk@fair)"),
        (["--engine", "box2d@default"], "run 1 has no box2d@default (it has: stack × pymunk@fair, "),
        (["stack", "bouncing-ball", "-e", "box2d"], "run 1 has no stack × box2d (it has: stack × pymunk@fair, "),
        (["stack", "-e", "pymunk@default", "-e", "mujoco"], "no stack × pymunk@default and 1 more of those named"),
        (["stack", "-e", "pymunk:iterations=2"], "run 1 has no stack × pymunk:iterations=2"),
        (["stack", "-e", "pymunk==9.9"], "run 1 has no stack × pymunk==9.9"),
        (["gone.json:content=0a1b2c3d"], "gone.json:content=0a1b2c3d: no scene of this name and content in upright.db"),
        (["stack", "--run", "2"], "run 2: not in this database; the latest is 1"),
    ],
)
def test_what_the_run_does_not_have_is_one_line_and_nothing_is_accepted(
    words: list[str], lacking: str, accept: Accept
) -> None:
    stored(case("stack"), case("bouncing-ball"), case("bouncing-ball", "box2d"))
    code, out, err = accept(*words)
    assert (code, out) == (2, "") and lacking in err and err.count("\n") == 1, err
    assert accepted() == []


def test_an_edited_scene_file_is_another_scene(accept: Accept) -> None:
    path = Path("s.json")
    path.write_text(write_scene(scenario_of("stack:n=3").scene))
    before = scenario_of("s.json")
    stored(case(before))
    path.write_text(write_scene(scenario_of("stack:n=5").scene))
    after = scenario_of("s.json")
    code, _, err = accept("s.json")
    assert code == 2 and f"run 1 has no {after.label} (it has: {before.label} × pymunk@fair)" in err
    assert accepted() == []
    path.write_text(write_scene(before.scene))
    assert "accepted 1 case of run 1" in accept("s.json")[1]


def test_of_two_scene_files_of_one_name_the_one_in_the_folder_is_meant(accept: Accept) -> None:
    for folder, word in (("a", "stack:n=3"), ("b", "stack:n=5")):
        Path(folder).mkdir()
        Path(folder, "stack.json").write_text(write_scene(scenario_of(word).scene))
    a, b = (scenario_of(f"{folder}/stack.json") for folder in "ab")
    stored(case(a), case(b), case("stack"))
    assert "accepted 1 case of run 1" in accept("b/stack.json")[1]
    assert accepted() == [(b.label, "pymunk", "fair")]


def test_a_label_names_its_scene_when_the_file_is_gone(accept: Accept) -> None:
    scene = scenario_of("stack:n=3").scene
    Path("s.json").write_text(write_scene(scene))
    scenario = scenario_of("s.json")
    Path("s.json").unlink()
    with open_store("upright.db") as store:
        run = store.begin_run(info(), [case(scenario)], [scene])
        store.save_results(run, [result(case(scenario))])
        store.finish_run(run)
    assert "accepted 1 case of run 1" in accept(scenario.label)[1]
    assert accepted() == [(scenario.label, "pymunk", "fair")]


def test_settings_are_named_in_any_order(accept: Accept) -> None:
    stored(case("stack", iterations=2, slop=0.1), case("stack", iterations=2))
    assert accept("stack", "-e", "pymunk:slop=0.1,iterations=2")[0] == 0
    assert accepted() == [("stack", "pymunk:iterations=2,slop=0.1", "fair")]


def test_what_is_left_out_because_it_shares_a_baseline_is_told(accept: Accept) -> None:
    stored(case("stack"), case("stack", iterations=2))
    code, out, _ = accept("stack")
    assert code == 0 and "accepted 1 case of run 1" in out and "1 with settings of their own left out" in out
    assert accepted() == [("stack", "pymunk", "fair")]


def test_two_that_share_a_baseline_cannot_both_be_named(accept: Accept) -> None:
    stored(case("stack"), case("stack", iterations=2))
    code, out, err = accept("-e", "pymunk", "-e", "pymunk:iterations=2")
    assert (code, out) == (2, "") and "stack: pymunk and pymunk:iterations=2 share one baseline" in err
    assert accepted() == []


def test_the_canonical_suite_is_checked_without_words(accept: Accept, monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setattr("validation.report.hints.default_engines", lambda: ("pymunk",))
    stored(*[case(scenario) for scenario in SUITE])
    assert accept()[1].endswith("Next: upright check\n")
    assert accept("stack:n=3")[1].endswith("Next: upright check stack:n=3\n")


def test_what_is_different_is_accepted_by_its_kind_and_a_fault_of_ours_never_is(accept: Accept) -> None:
    """A good baseline is not lost to an adapter that failed."""

    def ended(of: Case, value: float, bits: str) -> Result:
        moved = replace(falling(), state_hash=bits)
        return result(of, measurement("gap_final", value, better="neither"), trajectory=moved)

    cases = [case(name) for name in ("dominoes", "upright-block", "bouncing-ball")]
    scenes = [scenario_of(one.label).scene for one in cases]
    with open_store("upright.db") as store:
        for found in (
            [ended(one, 0.1, "a") for one in cases],
            [ended(cases[0], 0.3, "b"), failed(cases[1], "adapter_failed", "a fault"), ended(cases[2], 0.1, "a")],
        ):
            run = store.begin_run(info(), cases, scenes)
            store.save_results(run, found)
            baselines = store.baselines("main")
            store.save_verdicts(run, [judged(baselines.get(r.case.identity.key), r) for r in store.results(run)])
            store.finish_run(run)
            if run == 1:
                store.accept(run, who="R.", reason="x")
        assert [verdict.word for verdict in store.verdicts(2)] == ["different", "not compared", "pass"]
    assert accept("--kind", "different")[1].startswith("accepted 1 case of run 2: x")
    assert "1 left as they were, because Upright's own adapter failed there" in accept()[1]
    assert "nothing in run 2 is mixed; nothing was accepted" in accept("--kind", "mixed")[2]
