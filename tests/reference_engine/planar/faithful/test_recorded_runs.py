"""The original's recorded runs, repeated: the same end to the last bit, the same impacts, back-ups and steps."""

import json
from pathlib import Path

import pytest

from reference_engine.planar.faithful.recorded import NotRepresented, repeat, settings_of, world_of

FOLDER = Path(__file__).parents[1] / "data" / "contactsim_runs"
LONG = ("three_body_spin", "do_nothing", "six_blocks_settle", "pile_config", "clock_with_gears", "acute_corners")
FILES = sorted(FOLDER.glob("*.json"))
SHORT = [path.stem for path in FILES if not any(name in path.stem for name in LONG)]


def recorded(name: str):
    return json.loads((FOLDER / f"{name}.json").read_text())


def assert_repeated(name: str):
    """Every digit of the end state, and every one of the engine's counts."""
    run = recorded(name)
    outcome = repeat(run)
    assert outcome.hit
    assert outcome.difference == 0.0, (outcome.worst, outcome.totals)
    counts = {key: getattr(outcome.totals, key) for key in run["totals"]}
    assert counts == run["totals"]


@pytest.mark.parametrize("name", SHORT)
def test_a_run_of_the_original_is_repeated(name):
    assert_repeated(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [path.stem for path in FILES if path.stem not in SHORT])
def test_a_long_run_of_the_original_is_repeated(name):
    assert_repeated(name)


def test_what_cannot_be_represented_is_named():
    setup = recorded("RopeTest.double_rope_spin_test")["setup"]
    with pytest.raises(NotRepresented, match="connector PathJoint"):
        world_of({**setup, "connectors": [{**setup["connectors"][0], "type": "PathJoint"}]})
    with pytest.raises(NotRepresented, match="force law Wind"):
        world_of({**setup, "force_laws": [{"type": "Wind"}]})
    bodies = [setup["bodies"][0], {**setup["bodies"][1], "distance_tol": 0.02}]
    with pytest.raises(NotRepresented, match="bodies with tolerances of their own"):
        settings_of({**setup, "bodies": bodies})
    with pytest.raises(NotRepresented, match="solver: 'VERLET'"):
        settings_of({**setup, "solver": "VERLET"})
