"""Environments of other versions: made whole or not at all, from wheels of a folder; nothing here asks an index."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.effort import few
from tests.validation import wheels
from validation import engines
from validation.engines import EngineChoice, engine_of
from validation.engines.engine import SettingError
from validation.running import environments
from validation.running.environments import environment_of, environments_of, is_here
from validation.running.options import Progress
from validation.running.package_index import BuildError, releases
from validation.running.session import check_settings


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Release 1.0 of the toy engine is installed; it and 2.0 are in a folder of wheels. The cache folder."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    for version in ("1.0", "2.0"):
        wheels.wheel(shelf, version, 0.0)
    for name, value in wheels.from_wheels(shelf).items():
        monkeypatch.setenv(name, value)
    monkeypatch.syspath_prepend(str(wheels.installed(tmp_path / "site", "1.0", 0.0)))
    monkeypatch.setenv("UPRIGHT_CACHE", str(tmp_path / "cache"))
    engines._registered.cache_clear()
    yield tmp_path / "cache"
    monkeypatch.undo()
    engines._registered.cache_clear()


def choice(version: str) -> EngineChoice:
    return engine_of(f"toy=={version}")


def made(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "environments").iterdir() if path.is_dir())


def test_another_version_gets_an_environment_once_and_this_python_is_left_alone(toy: Path) -> None:
    assert is_here(choice("1.0")) and not is_here(choice("2.0"))
    described: list[str] = []
    environment = environment_of(choice("2.0"), described.append)
    assert described[0] == "making a virtual environment" and described[-1].startswith(
        "installing collected packages: toy"
    )
    assert environment.packages == {"toy-engine": "2.0"}
    asked = "import toy_engine; print(toy_engine.Toy.version)"
    there = subprocess.run([environment.python, "-I", "-c", asked], capture_output=True, text=True)
    here = subprocess.run([sys.executable, "-I", "-c", asked], capture_output=True, text=True)
    assert there.stdout == "2.0\n" and "No module named 'toy_engine'" in here.stderr
    described.clear()
    assert environment_of(choice("2.0"), described.append) == environment and described == []


BUILT_FOR_NUMPY_1 = """
import importlib.metadata
if importlib.metadata.version("numpy") != "1.0":
    raise ImportError("numpy.core.multiarray failed to import")
"""


@pytest.mark.slow
def test_a_wheel_gets_the_numpy_that_it_was_built_for_though_it_does_not_ask_for_it(toy: Path) -> None:
    """As pybullet 3.2.6; its import says so, under the numpy of this Python."""
    wheels.empty_wheel(toy.parent / "shelf", "numpy", "1.0")
    wheels.wheel(toy.parent / "shelf", "1.5", 0.0, BUILT_FOR_NUMPY_1)
    described: list[str] = []
    assert environment_of(choice("1.5"), described.append).packages == {"toy-engine": "1.5", "numpy": "1.0"}
    assert "toy-engine==1.5 needs numpy<2" in described


@pytest.mark.slow
def test_where_that_numpy_is_not_to_be_had_the_error_says_so(toy: Path) -> None:
    wheels.wheel(toy.parent / "shelf", "1.5", 0.0, BUILT_FOR_NUMPY_1)
    with pytest.raises(BuildError, match=r"^toy-engine==1\.5 needs numpy<2, which cannot be installed: "):
        environment_of(choice("1.5"))
    assert made(toy) == []


@pytest.mark.slow
def test_all_spellings_of_a_version_and_all_settings_share_one_environment(toy: Path) -> None:
    words = ("toy==2.0", "toy==v2.0", "toy==2.0.0", "toy==2.0@default")
    found = [environment_of(engine_of(word)) for word in words]
    assert len({environment.python for environment in found}) == 1 and len(made(toy)) == 1
    assert is_here(choice("1.0.0")) and is_here(choice("v1.0"))


@pytest.mark.slow
def test_of_two_versions_none_is_made_where_one_is_not_possible(toy: Path) -> None:
    with pytest.raises(BuildError, match=r"^toy-engine==3\.0: there is no such version"):
        environments_of([choice("2.0"), choice("3.0")], Progress())
    assert not (toy / "environments").exists()


@pytest.mark.slow
def test_an_index_that_does_not_answer_is_not_a_version_that_does_not_exist(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")  # where nobody listens
    with pytest.raises(BuildError, match=r"^toy-engine==3\.0: http://127\.0\.0\.1:9/\S+ does not answer \(.*refused"):
        environment_of(choice("3.0"))


def test_releases_are_those_with_a_wheel_the_oldest_first(toy: Path) -> None:
    for version in ("10.0", "9.0"):
        wheels.wheel(toy.parent / "shelf", version, 0.0)
    (toy.parent / "shelf" / "toy_engine-9.5.tar.gz").write_bytes(b"sources, from which nothing is built")
    assert [*map(str, releases("toy-engine"))] == ["1.0", "2.0", "9.0", "10.0"]


def test_a_version_that_is_not_there_is_told_with_those_that_are_and_leaves_nothing(toy: Path) -> None:
    with pytest.raises(BuildError, match=r"^toy-engine==3\.0: there is no such version; pip has 1\.0, 2\.0$"):
        environment_of(choice("3.0"))
    assert made(toy) == []


@pytest.mark.slow
def test_without_any_wheel_the_error_asks_for_the_index(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(toy))
    with pytest.raises(BuildError, match=r"^toy-engine==2\.0: pip finds no wheel of toy-engine for Python 3\."):
        environment_of(choice("2.0"))


def test_an_interrupted_build_leaves_nothing_half_made(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(environments, "_install_beside", interrupted)
        with pytest.raises(KeyboardInterrupt):
            environment_of(choice("2.0"))
    assert made(toy) == []


@pytest.mark.slow
def test_what_a_killed_build_left_is_made_anew(toy: Path) -> None:
    half = toy / "environments" / f"toy-engine-2.0-{sys.implementation.cache_tag}"
    (half / "bin").mkdir(parents=True)
    (half / "bin" / "python").write_text("no Python")
    assert environment_of(choice("2.0")).packages == {"toy-engine": "2.0"}


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("reference==1.0", r"no distribution has 'reference', so there are no versions of it$"),
        ("toy==2.0 --pre", r"'2\.0 --pre' is not a version; allowed: such as 6\.11\.1$"),
    ],
)
def test_what_has_no_versions_is_told_in_a_line(word: str, message: str, toy: Path) -> None:
    with pytest.raises(BuildError, match=message):
        environment_of(engine_of(word))


def test_lent_are_links_to_our_packages_and_what_they_import(toy: Path) -> None:
    folder = environments.lent_folder()
    assert (folder / "validation" / "running" / "environments.py").samefile(environments.__file__)
    assert {"numpy", "pydantic", "scenarios", "reference_engine"} <= {path.name for path in folder.iterdir()}
    assert not {"pymunk", "mujoco", "tests"} & {path.name for path in folder.iterdir()}
    assert folder == environments.lent_folder()


@pytest.mark.parametrize(
    ("word",), few(1, [("pymunk==5.7.0:iteratons=20",), ("pymunk==5.7.0:iterations=0",), ("pymunk==5.7.0@fare",)])
)
def test_a_wrong_setting_of_a_version_is_told_before_anything_is_installed(word: str, toy: Path) -> None:
    with pytest.raises(SettingError, match=r"^pymunk"):
        check_settings([engine_of(word)])
    assert not (toy / "environments").exists()
