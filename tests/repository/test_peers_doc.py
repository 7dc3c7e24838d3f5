"""docs/peers.md and the benchmark behind it tell of the same figures; nothing is simulated here."""

from __future__ import annotations

import importlib.util
import itertools
import re
import shlex
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from scenarios.catalogue import scenario_of
from validation.cli.run import command
from validation.engines import engine_of, load_engine, present_engines
from validation.engines.engine import check_overrides

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")
FIGURES, PITFALLS = PAGE.split("## What makes a comparison unfair")
TITLES, BODIES = (re.split(r"^### (.*)$", FIGURES, flags=re.MULTILINE)[k::2] for k in (1, 2))
SECTIONS = dict(zip(TITLES, BODIES))
HEIGHTS = "n=3, 5, 10, 20"


@cache
def benchmark() -> ModuleType:
    """ci/ is no package: nothing imports it."""
    path = ROOT / "ci" / "benchmarks" / "peers.py"
    spec = importlib.util.spec_from_file_location("peers_benchmark", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def table() -> dict[str, list[tuple[str, tuple[str, ...], str, str]]]:
    """Title -> (engine, scenes, earlier, reason) as the page writes them, from the benchmark."""
    return {
        quantity.name: [(f.engine, f.scenes, f"{f.earlier:.3g}", f.reason or "yes") for f in quantity.figures]
        for quantity in benchmark().read_table()
    }


def commands(text: str) -> list[list[str]]:
    return [shlex.split(line) for line in text.splitlines() if line.startswith("upright run")]


def cells(text: str) -> set[tuple[str, str]]:
    """(scene word, engine word) that the commands in the text run, as the command line itself reads them."""
    found: set[tuple[str, str]] = set()
    for words in commands(text):
        given = command.make_context("run", words[2:]).params
        assert given["as_json"], f"{' '.join(words)}: without --json it shows no metrics"
        found |= set(itertools.product(given["scenarios"], given["engines"]))
    return found


def rows(text: str) -> list[tuple[str, str, str, str]]:
    """(engine, scene, earlier, same) of the table in the text."""
    lines = [re.split(r"\s*\|\s*", line.strip("| ")) for line in text.splitlines() if line.startswith("| `")]
    return [(engine.strip("`"), scene.strip("`"), earlier, same) for engine, scene, _, earlier, same in lines]


def test_the_page_and_the_benchmark_have_the_same_quantities_in_the_same_order() -> None:
    assert list(SECTIONS) == list(table())
    assert len(SECTIONS) >= 12


@pytest.mark.parametrize("title", SECTIONS)
def test_each_table_of_the_page_is_that_of_the_benchmark(title: str) -> None:
    expected = [
        (engine, scenes[0] if len(scenes) == 1 else scenes[0].replace("n=3", HEIGHTS), earlier, reason)
        for engine, scenes, earlier, reason in table()[title]
    ]
    assert rows(SECTIONS[title]) == expected


@pytest.mark.parametrize("title", SECTIONS)
def test_the_commands_of_a_table_run_each_of_its_figures(title: str) -> None:
    wanted = {(scene, engine) for engine, scenes, _, _ in table()[title] for scene in scenes}
    assert wanted <= cells(SECTIONS[title])


def test_every_scene_on_the_page_is_one_and_its_files_stand_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)  # as the page says
    scenes = {scene for scene, _ in cells(PAGE)}
    for scene in scenes:
        assert scenario_of(scene).scene.bodies
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "peers").iterdir()}
    assert {scene for scene in scenes if scene.endswith(".json")} == files


def test_every_engine_on_the_page_takes_its_settings() -> None:
    """Of those that are here: an absent one is refused by its name."""
    words = sorted({engine for _, engine in cells(PAGE)})
    present = [word for word in words if re.split("[:@]", word)[0] in present_engines()]
    assert len(present) > len(words) / 2
    for word in present:
        choice = engine_of(word)
        assert set(check_overrides(load_engine(choice), choice.overrides)) == set(choice.overrides)


def test_every_figure_can_be_read_and_a_reason_comes_with_the_figure_that_it_is_about() -> None:
    peers = benchmark()
    for quantity in peers.read_table():
        assert quantity.reading in peers.READINGS
        for figure in quantity.figures:
            assert bool(figure.reason) == (figure.found == figure.found), figure  # NaN: none given
            if figure.reason:
                assert not peers.agrees(figure.found, figure.earlier, quantity.none), figure


def test_figures_agree_by_sign_and_within_a_factor_of_two_or_where_both_are_as_good_as_none() -> None:
    agrees = benchmark().agrees
    assert agrees(1.9, 1.0, 0.0) and agrees(0.51, 1.0, 0.0) and agrees(-3.0, -2.0, 0.0)
    assert not agrees(2.1, 1.0, 0.0) and not agrees(0.4, 1.0, 0.0) and not agrees(1.0, -1.0, 0.0)
    assert agrees(0.0, 0.0, 0.0) and agrees(1e-14, -1e-16, 1e-12)
    assert not agrees(1e-3, 0.0, 1e-12) and not agrees(float("nan"), 1.0, 1.0)
    assert not agrees(1.0, float("nan"), 1.0)


def test_every_pitfall_names_a_test_that_there_is() -> None:
    there = {
        name
        for path in (ROOT / "tests").rglob("*.py")
        for name in re.findall(r"^ *def (test_\w+)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    }
    pitfalls = [line for line in PITFALLS.splitlines() if line.startswith("- ")]
    assert len(pitfalls) > 20
    for line in pitfalls:
        named = re.findall(r"`(test_\w+)`", line)
        assert named and set(named) <= there, line
