"""A scenario is named by a word: a family, a family with parameters, or a scene file."""

from __future__ import annotations

import subprocess
import sys

import pytest

from scenarios.catalogue import FAMILIES, cite, scenario_of
from scenarios.catalogue.shared.scene_file import LABEL, invariants_of
from scenarios.scenario import ParameterError
from scenarios.scene import Disc, PlanarBody, PlanarScene, Spring, Thruster, content_hash, write_scene
from scenarios.scene_error import SceneError
from tests.suite import SUITE

BALL = PlanarBody(name="ball", shape=Disc(radius=0.5), mass=1.0)
OTHER = PlanarBody(name="other", shape=Disc(radius=0.5), mass=1.0, position=(2.0, 0.0))


def test_a_bare_name_is_the_family_at_its_defaults():
    assert scenario_of("stack").parameters == FAMILIES["stack"].defaults


def test_parameters_follow_a_colon():
    scenario = scenario_of("stack:n=5, mass_ratio=100")
    assert (scenario.label, len(scenario.scene.bodies)) == ("stack:n=5,mass_ratio=100", 5)


def test_every_label_of_the_suite_names_its_scenario():
    for scenario in SUITE:
        named = scenario_of(scenario.label)
        assert (named.parameters, named.scene) == (scenario.parameters, scenario.scene)


def test_a_path_is_a_scene_file_named_without_its_folder_and_known_by_its_content(tmp_path):
    scene = scenario_of("stack:n=3").scene
    for name in ("my_cell.json", "stack.json", "with a blank.json"):
        file = tmp_path / name
        file.write_text(write_scene(scene))
        scenario = scenario_of(str(file))
        assert scenario.scene == scene
        assert (scenario.name, scenario.label) == (name, f"{name}:content={content_hash(scene)[:8]}")
        assert LABEL.fullmatch(scenario.label)
        assert scenario.parameters == {"content": content_hash(scene)}
        assert scenario.truth.invariants == {"energy-not-gained", "no-overlap"}


def test_no_label_of_the_suite_is_that_of_a_scene_file():
    assert [s.label for s in SUITE if LABEL.fullmatch(s.label)] == []


def test_a_label_keeps_to_its_line_whatever_the_file_is_called(tmp_path):
    file = tmp_path / "a\nb\x1b[31m.json"
    file.write_text(write_scene(scenario_of("stack:n=3").scene))
    assert scenario_of(str(file)).label.startswith("a\ufffdb\ufffd[31m.json:content=")


def test_no_label_looks_like_an_option(tmp_path):
    file = tmp_path / "-e.json"
    file.write_text(write_scene(scenario_of("stack:n=3").scene))
    assert scenario_of(str(file)).label.startswith("\ufffde.json:content=")


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("stak", ("'stak'", "did you mean 'stack'?", "stack:n=5")),
        ("Upright_Block", ("did you mean 'upright-block'",)),
        ("zzz", ("'zzz'", "known: upright-block, blocks, stack", "my_scene.json")),
        ("", ("''", "known")),
        ("stack:", ("stack", "''", "k=v", "stack:n=3")),
        ("stack:n", ("'n'", "k=v")),
        ("stack:n=", ("'n='", "k=v")),
        ("stack:n=5,n=6", ("'n'", "twice", "5", "6")),
        ("stack:m=5", ("'m'", "it takes: n, mass_ratio")),
        ("stack:n=1", ("stack:n", "'1'", "integer 2 to 100")),
        ("upright-block:start=rok", ("upright-block:start", "'rok'", "touching | at-gap | rock | drop | tilt")),
        ("slide-to-roll:spin=-10", ("slide-to-roll:spin", "-10", "rolls from the start")),
    ],
)
def test_a_word_that_names_nothing_gets_near_misses_and_examples(word, words):
    with pytest.raises(ParameterError) as caught:
        scenario_of(word)
    line = str(caught.value)
    assert "\n" not in line
    assert [w for w in words if w not in line] == [], line


def test_a_path_that_leads_nowhere_is_a_scene_error():
    for word in ("no_such.json", "no/such"):
        with pytest.raises(SceneError, match="cannot be read"):
            scenario_of(word)


def test_what_holds_of_a_scene_file_depends_on_what_can_act_on_its_bodies():
    """Alone in flight all is conserved; a contact may take energy; a thruster gives both; a tie to the world takes
    momentum."""
    free = PlanarScene(duration=1.0, bodies=(BALL,))
    assert invariants_of(free) == {"energy", "momentum", "angular-momentum", "no-overlap"}
    two = PlanarScene(duration=1.0, bodies=(BALL, OTHER))
    assert invariants_of(two) == {"energy-not-gained", "momentum", "angular-momentum", "no-overlap"}
    tied = two.model_copy(
        update={"springs": (Spring(a="ball", anchor_a=(0.0, 0.0), anchor_b=(0.0, 1.0), stiffness=1.0),)}
    )
    assert invariants_of(tied) == {"energy-not-gained", "no-overlap"}
    pushed = two.model_copy(update={"thrusters": (Thruster(body="ball", anchor=(0.0, 0.0), force=(1.0, 0.0)),)})
    assert invariants_of(pushed) == {"no-overlap"}


def test_every_scenario_can_be_cited():
    for scenario in SUITE:
        text = cite(scenario)
        assert text.startswith(f"{scenario.label}: {scenario.title}\n")
        assert scenario.truth.source in text and scenario.truth.kind in text


def test_looking_into_the_catalogue_loads_neither_scipy_nor_numba():
    """The command line, completion above all, looks here before anything else."""
    code = "import sys, scenarios.catalogue; print([m for m in ('scipy', 'numba', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
