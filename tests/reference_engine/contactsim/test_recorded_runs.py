"""The original's recorded runs, repeated: the same end to the last bit, the same impacts, back-ups and steps."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reference_engine.errors import UnresolvedContact
from tests.reference_engine.contactsim.recorded import NotRepresented, settings_of, world_of
from tests.reference_engine.contactsim.replay import repeat

ROOT = Path(__file__).parents[3]
FOLDER = Path(__file__).parent / "data" / "contactsim_runs"
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


def stuck_ball(**more):
    """The original's own test of giving up: a ball of e = 0.8 on a floor, impacts alone. It bounces for 9.5 s."""
    circle = {"v1": [-0.5, 0], "v2": [-0.5, 0], "type": "circular", "center": [0, 0], "clockwise": False}
    corners = [[-5, -0.5], [5, -0.5], [5, 0.5], [-5, 0.5]]
    sides = [
        {"v1": p, "v2": q, "type": "straight", "outside_is_up": up}
        for p, q, up in zip(corners, [*corners[1:], corners[0]], [False, True, True, False])
    ]
    tolerances = {"elasticity": 0.8, "distance_tol": 0.01, "velocity_tol": 0.5, "accuracy": 0.6, "cm_body": [0, 0]}
    ball = {"name": "BALL", "mass": 1, "moment_about_cm": 0.125, "edges": [{**circle, "outside_is_out": True}]}
    floor = {"name": "WALL", "mass": "Infinity", "moment_about_cm": "Infinity", "edges": sides}
    still = {"angle": 0, "vx": 0, "vy": 0, "omega": 0}
    setup = {
        "sim_class": "ImpulseSim", "collision_handling": "serial grouped lastpass", "extra_accel": None,
        "random_seed": 99999, "time_step": 0.025, "solver": "RUNGE_KUTTA", "joint_small_impacts": False,
        "start_time": 0, "force_laws": [{"type": "GravityLaw", "gravity": 3.0}], "connectors": [],
        "bodies": [
            {**ball, **tolerances, "state": {"x": 0, "y": 0, **still}},
            {**floor, **tolerances, "state": {"x": 0, "y": -2.5, **still}},
        ],
    }  # fmt: skip
    return {"setup": setup, "totals": {"collisions": 1}, **more}


def test_a_run_that_the_original_gives_up_is_repeated_if_ours_gives_up_for_the_same_reason():
    """Bounces without number in a finite time: without contact forces there is nothing to end them."""
    stuck = {"exception": "collision was not resolved after 30 tries"}
    assert repeat(stuck_ball(meta={"engine_expected": {"run_until": 15.0}} | stuck)).hit
    named = {"engine_test": "CircleStraightTest.ball_falls_on_floor_stuck", "engine_expected": {"run_until": 15.0}}
    assert repeat(stuck_ball(meta=named)).hit
    forces = {"engine_expected": {"run_until": 15.0, "error": "compute_forces failed error=-2"}}
    assert not repeat(stuck_ball(meta=forces)).hit


def test_a_run_that_should_be_given_up_and_is_not_is_a_miss():
    short = stuck_ball(final={"t": 1.0, "bodies": {}}, error="collision was not resolved after 30 tries")
    outcome = repeat(short)
    assert not outcome.hit and outcome.note == ", did not give up"


def test_a_giving_up_that_nobody_expected_is_raised():
    with pytest.raises(UnresolvedContact):
        repeat(stuck_ball(meta={"engine_expected": {"run_until": 15.0}}))


def test_a_field_that_is_not_there_is_named():
    run = stuck_ball(final={"t": 1.0, "bodies": {}})
    del run["setup"]["bodies"][0]["moment_about_cm"]
    with pytest.raises(NotRepresented, match="field or name 'moment_about_cm' is not there"):
        repeat(run)


@pytest.mark.slow
def test_the_command_reads_whatever_lies_in_the_folder(tmp_path):
    """Not JSON, JSON of another kind, and a run: two misses that say why, and a hit."""
    (tmp_path / "a.json").write_text("{")
    (tmp_path / "b.json").write_text("[1, 2]")
    (tmp_path / "c.json").write_text(json.dumps(recorded("MultipleCollisionTest.test6_1_hybrid")))
    done = subprocess.run(
        [sys.executable, "-P", "ci/benchmarks/contactsim_parity.py", str(tmp_path)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1 and done.stdout.splitlines()[-1] == "1 of 3 runs repeated"
    assert [line[:4] for line in done.stdout.splitlines()[:3]] == ["miss", "miss", "hit "]
