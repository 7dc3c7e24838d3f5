"""Since which release a find's law is broken is found in few tries, past releases that cannot be run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from scenarios.scene import Disc, PlanarBody, PlanarScene
from tests.validation.command import upright
from validation.engines import EngineChoice
from validation.running.options import RunError
from validation.running.versions import LackingError
from validation.store import open_store
from validation.tools.fuzzing import since as module
from validation.tools.fuzzing.since import Since, first_broken

RELEASES = [EngineChoice(kind="registered", name="toy", version=f"1.{i}") for i in range(40)]


def asked(first: int, lacking: Sequence[int] = ()) -> tuple[Since, list[int]]:
    """The answer for a fault of all releases from this one on, and which were tried."""
    tried: list[int] = []

    def is_broken(release: EngineChoice) -> bool:
        tried.append(RELEASES.index(release))
        if tried[-1] in lacking:
            raise LackingError("no wheel")
        return tried[-1] >= first

    return first_broken(RELEASES, is_broken, lambda text: None), tried


@pytest.mark.parametrize("first", [1, 17, 39])
def test_the_first_release_that_breaks_the_law_is_found_in_few_tries(first: int) -> None:
    found, tried = asked(first)
    assert found == Since(version=f"1.{first}", not_in=f"1.{first - 1}")
    assert len(tried) == len(set(tried)) <= 2 + math.ceil(math.log2(len(RELEASES)))


def test_where_every_release_breaks_it_the_oldest_is_named_and_none_is_without() -> None:
    assert asked(0) == (Since(version="1.0", not_in=""), [39, 0])


def test_releases_that_cannot_be_run_are_passed_over_and_those_next_to_the_answer_named() -> None:
    found, _ = asked(17, lacking=(0, 1, 15, 16, 19))
    assert found == Since(version="1.17", not_in="1.14", left_out=("1.15", "1.16"))
    found, tried = asked(0, lacking=(0, 1, 2))
    assert found == Since(version="1.3", not_in="", left_out=("1.0", "1.1", "1.2")) and len(tried) == 5


def test_where_the_newest_does_not_break_it_or_cannot_be_run_nothing_is_searched_for() -> None:
    with pytest.raises(RunError, match=r"toy==1.39: it does not break the law any more; nothing is searched for"):
        asked(40)
    with pytest.raises(RunError, match=r"toy==1.39: no wheel; nothing is searched for"):
        asked(3, lacking=(39,))


def test_the_command_stores_the_answer_and_lists_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pymunk")
    scene = PlanarScene(duration=0.5, bodies=(PlanarBody(name="ball", shape=Disc(radius=0.5), mass=1.0),))
    with open_store(tmp_path / "upright.db") as store:
        about = {"engine_version": "7.3.1", "profile": "fair", "seed": 1, "dt": 0.01, "message": "it fell"}
        store.add_find(engine="pymunk:iterations=5", oracle="hangs", scene=scene, **about)
    releases = [EngineChoice(kind="registered", name="pymunk", version=v) for v in ("6.1.0", "6.2.0", "7.0.0", "7.1.0")]
    oldest: list[str] = []

    def releases_of(choice: EngineChoice, first: object, until: object) -> list[EngineChoice]:
        oldest.append(str(first))
        return [replace(one, overrides=choice.overrides) for one in releases]

    def is_broken(pool: object, find: object, release: EngineChoice, notify: object) -> bool:
        assert release.overrides == {"iterations": "5"}, "as the find was made"
        return release.version not in ("6.1.0", "6.2.0")

    monkeypatch.setattr(module, "releases_of", releases_of)
    monkeypatch.setattr(module, "is_broken_on", is_broken)
    monkeypatch.setattr(module, "command_of", lambda choice: ["true"])
    done = upright("finds", "1", "--since", "6.0", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "find 1: pymunk:iterations=5: hangs since 7.0.0, not in 6.2.0\n" and oldest == ["6.0"]
    assert "6.2.0: does not break the law" in done.stderr
    assert "since 7.0.0, not in 6.2.0" in upright("finds", folder=tmp_path).stdout
    unclear = upright("finds", "--since", folder=tmp_path)
    assert unclear.returncode == 2 and "of which find? Give its NUMBER" in unclear.stderr
