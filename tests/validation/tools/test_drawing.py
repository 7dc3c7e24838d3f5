"""What is drawn for an engine: only what it takes, and its options."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from scenarios.features import scene_features
from scenarios.scene import Disc, HalfPlane, PlanarBody, PlanarScene, Polygon, Scene, content_hash
from tests.validation.command import kept_servers
from validation import engines
from validation.engines import engine_of
from validation.engines.engine import Setting
from validation.engines.pymunk.adapter import Pymunk
from validation.running.options import RunError
from validation.running.processes.pool import Pool
from validation.tools.fuzzing.comparing import with_settings
from validation.tools.fuzzing.drawing import Given, draw, options_of, scenes_for
from validation.tools.fuzzing.fault import Fault
from validation.tools.fuzzing.oracles import depth_at_start
from validation.tools.fuzzing.search import Fuzzer

DISC = PlanarBody(name="disc", shape=Disc(radius=0.5), mass=1.0)
PLUGINS = Path(__file__).parents[2] / "plugins"
SETTINGS = {
    "sweeps": Setting(default=10, low=4, high=1000, doc=""),
    "slop": Setting(default=0.1, low=0.0, high=0.15, doc=""),
    "warm": Setting(default=True, doc=""),
    "solver": Setting(default="cg", choices=("cg", "newton"), doc=""),
    "rest": Setting(default=0.0, low=0.0, high=1.0, doc=""),
    "note": Setting(default="", doc=""),
    "rounds": Setting(default=2, low=1, high=100, fuzzed="more", doc=""),
    "tolerance": Setting(default=1e-3, low=0.0, high=1.0, fuzzed="less", doc=""),
    "facets": Setting(default=64, low=1, high=1000, fuzzed="none", doc=""),
    "least": Setting(default=0.5, low=0.0, high=1.0, at_most="greatest", doc=""),
    "greatest": Setting(default=0.5, low=0.0, high=1.0, doc=""),
}
TABLE = {name: asdict(setting) for name, setting in SETTINGS.items()}
OWN = {name: setting.default for name, setting in SETTINGS.items()} | {"rounds": 20, "greatest": 0.6}
VALUES = {
    "sweeps": {"20", "5", "40"},
    "slop": {"0.05", "0.025"},
    "warm": {"false"},
    "solver": {"newton"},
    "rounds": {"40", "80"},
    "tolerance": {"0.0005", "0.00025"},
    "least": {"0.25", "0.125"},
    "greatest": {"0.3", "0.15"},
}


@given(options=options_of(TABLE, OWN))
def test_options_are_other_choices_flags_and_numbers_near_the_profile_s_that_are_documented(options) -> None:
    assert len(options) <= 2 and len({name for name, _ in options}) == len(options)
    assert all(value in VALUES[name] for name, value in options)
    both = OWN | dict(options)
    assert float(both["least"]) <= float(both["greatest"])


@pytest.mark.slow
def test_every_option_is_drawn_and_so_is_none() -> None:
    seen: set[tuple[tuple[str, str], ...]] = set()
    draw(options_of(TABLE, OWN), 1, lambda options, dt: seen.add(options), count=2000)
    assert {option for options in seen for option in options} == {(n, v) for n, vs in VALUES.items() for v in vs}
    assert () in seen
    assert {len(options) for options in seen} == {0, 1, 2}


def test_an_engine_without_settings_has_no_options() -> None:
    draw(options_of({}, {}), 1, lambda options, dt: _assert_none(options), count=5)


def _assert_none(options: object) -> None:
    assert options == ()


def test_only_scenes_are_drawn_of_which_the_engine_takes_every_feature() -> None:
    engine, scenes = Pymunk(), list[Scene]()
    strategy = scenes_for(lambda asked: [engine.declines(scene) is None for scene in asked])
    for seed in (1, 2, 3):
        draw(strategy, seed, lambda scene, dt: scenes.append(scene))
    assert all(engine.declines(scene) is None for scene in scenes)
    found = {feature for scene in scenes for feature in scene_features(scene)}
    assert {"bowl", "revolute", "rod", "disc", "polygon", "friction", "restitution"} <= found


def test_of_given_scenes_only_mutations_are_drawn_that_start_as_well() -> None:
    """A box on the ground: it is never sunk into it."""
    base, scenes = a_fault().scene, list[Scene]()
    ground = HalfPlane(name="ground", point=(0.0, -0.5))
    given = Given(only=(base.model_copy(update={"boundaries": (ground,)}),))
    draw(scenes_for(lambda asked: [True for _ in asked], given), 1, lambda scene, dt: scenes.append(scene), count=60)
    assert len({content_hash(scene) for scene in scenes}) > 30
    assert all(depth_at_start(scene) < 1e-9 for scene in scenes)
    assert all(len(scene.bodies) <= 4 for scene in scenes)


@pytest.mark.slow
def test_one_scene_in_four_is_of_the_catalogue_or_the_corpus_and_the_corpus_is_drawn_as_it_is_too() -> None:
    base = a_fault().scene
    own, other = (base.model_copy(update={"title": title}) for title in ("of the corpus", "of the catalogue"))
    scenes = list[Scene]()
    strategy = scenes_for(lambda asked: [True for _ in asked], Given(corpus=(own,), catalogue=(other,)))
    draw(strategy, 1, lambda scene, dt: scenes.append(scene), count=240)
    shares = [np.mean([scene.title == one.title for scene in scenes]) for one in (own, other)]
    assert all(0.06 < share < 0.25 for share in shares), shares
    assert own in scenes


def test_where_the_engine_takes_none_of_the_given_scenes_it_is_one_line() -> None:
    with pytest.raises(RunError, match="none of the given scenes can be mutated"):
        scenes_for(lambda asked: [False for _ in asked], Given(only=(a_fault().scene,)))


def test_an_engine_that_takes_nothing_is_given_planar_scenes_to_decline() -> None:
    scenes: list[Scene] = []
    draw(scenes_for(lambda asked: [False for _ in asked]), 1, lambda scene, dt: scenes.append(scene), count=5)
    assert scenes and all(isinstance(scene, PlanarScene) for scene in scenes)


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The engine that breaks on purpose: its setting `fault` says how."""
    monkeypatch.syspath_prepend(str(PLUGINS))
    monkeypatch.setenv("PYTHONPATH", str(PLUGINS))
    engines._registered.cache_clear()
    with kept_servers():
        yield
    engines._registered.cache_clear()


def a_fault(*options: tuple[str, str]) -> Fault:
    square = Polygon(vertices=((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)))
    scene = PlanarScene(duration=0.5, bodies=(PlanarBody(name="box", shape=square, mass=1.0),))
    return Fault(oracle="broken", message="", scene=scene, dt=1.0 / 240.0, seed=1, options=options)


@pytest.mark.usefixtures("broken")
@pytest.mark.slow
def test_options_that_a_fault_does_not_need_are_taken_out_and_the_one_that_it_needs_is_not() -> None:
    with Pool() as pool:
        fuzzer = Fuzzer(pool, engine_of("broken"), None, 60.0)
        shrunk = fuzzer.shrunk(a_fault(("fault", "raise"), ("patience", "1800.0")))
        assert shrunk.options == (("fault", "raise"),)
        assert with_settings(engine_of("broken"), dict(shrunk.options)).label == "broken:fault=raise"


def test_a_fault_that_needs_an_option_is_no_fault_without_it() -> None:
    plain, with_option = a_fault(), a_fault(("iterations", "5"))
    assert with_option.is_of(plain) and with_option.is_of(a_fault(("iterations", "20")))
    assert not plain.is_of(with_option)


def test_two_ways_that_differ_are_one_cause_whatever_shapes_show_it() -> None:
    box = replace(a_fault(), oracle="does not hold: a and b agree")
    disc = replace(box, scene=box.scene.model_copy(update={"bodies": (DISC,)}))
    assert box.is_of(disc) and disc.is_of(box)
    assert not replace(disc, oracle="broken").is_of(replace(box, oracle="broken"))
