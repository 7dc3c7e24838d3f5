"""ci/benchmarks/joints.py: mechanisms in the forms that people write them, by closed forms; what is wrong is a miss."""

import importlib.util
import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

from tests.effort import tries

ROOT = Path(__file__).parents[3]
DATA = ROOT / "ci" / "benchmarks" / "data" / "joints"


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("joints_benchmark_2", ROOT / "ci" / "benchmarks" / "joints.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def swings(amplitude, length=1.0, g=9.81):
    return 4.0 * math.sqrt(length / g) * float(ellipk(math.sin(amplitude / 2) ** 2))


MILD = json.loads((DATA / "double_pendulum_rods_mild.json").read_text())
SECOND = {"t": [1], "y": MILD["y"][:1]}  # s
ANDREWS = json.loads((DATA / "andrews_squeezing_mechanism.json").read_text())["angles"]
ROD = {"m": 1, "I": 1 / 12, "d": 0.5, "theta0": 1.2}
sn, cn, dn, _ = ellipj(0.2 * math.sqrt(9.81), math.sin(0.25) ** 2)
HALF = {"samples_t_theta": [[0.2, 2.0 * math.asin(math.sin(0.25) * cn / dn)]]}  # from rest at 0.5 rad, by Jacobi
SLOW = {"body", "top", "andrews", "bowl", "ball that rolls in a bowl", "own columns", "numbered degrees"}
RIGHT = {
    "amplitude": {"name": "pendulum", "inputs": {"L": 1, "amplitude_rad": 0.5}} | HALF,
    "degrees": {"name": "pendulum", "inputs": {"m": 2, "L": 1, "theta0_deg": math.degrees(0.5)}} | HALF,
    "words": {"inputs": {"L": 1, "start": "amplitude 0.5 rad from the vertical, at rest"}, "expected": HALF},
    "body": {"name": "physical_pendulum", "inputs": ROD, "period": swings(1.2, 2 / 3)},
    "numbered": {"name": "double", "inputs": {"m1": 1, "m2": 1, "L1": 1, "L2": 1, "th1": 0.5, "th2": 0.3, "rods": True}}
    | SECOND,
    "numbered degrees": {"name": "double", "inputs": {"m": [1, 1], "L": [1, 1], "th1_deg": math.degrees(0.5),
                         "th2_deg": math.degrees(0.3), "rods": True}} | SECOND,
    "own columns": {"name": "double_pendulum", "inputs": {"m": [1, 1], "L": [1, 1], "theta": [0.5, 0.3], "rods": True},
                    "t": [1, 2], "th1": [y[0] for y in MILD["y"][:2]], "omega2": [y[3] for y in MILD["y"][:2]]},
    "fall": {"name": "falling_chimney", "inputs": {"L": 1, "theta0": 0.1}, "t_fall": 0.9128611158643917,
             "omega": 5.411374371093937},
    "andrews": {"name": "andrews", "inputs": {"t": 0.03}, "expected": {k.lower(): v for k, v in ANDREWS.items()}},
    "tumbling": {"name": "free_tumbling", "inputs": {"I": [1, 2, 3], "w0": [0.01, 1, 0.01]}, "t": [10],
                 "w": [[-0.874573437891093646, 0.48499618734104845, 0.505001220547913341]],
                 "q": [[-0.242702990919572282, -0.118144126725445916, 0.822720146747211752, 0.500268711449379124]]},
    "top": {"name": "heavy_top", "inputs": {"A": 1, "C": 0.5, "mgl": 2, "w3": 6, "theta0": 0.6},
            "nutation_period": 2.996929367630171},
    "bowl": {"name": "ball_in_bowl", "inputs": {"L": 1.75, "theta0": 1.0, "phidot": 1.0 / math.sin(1.0)},
             "z_period": 1.418838014569386},
    "ball that rolls in a bowl": {"name": "ball_in_bowl", "inputs": {"L": 1.75, "k": 0.4, "theta0": 0.5},
                                  "z_period": 0.5 * swings(0.5, 1.4 * 1.75)},
}  # fmt: skip


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in RIGHT])
def test_what_people_write_is_read_and_hit(benchmark, name):
    """Periods by elliptic functions, the falling rod by them too, the others from the cases beside."""
    found = list(benchmark.comparisons(json.loads(json.dumps(RIGHT[name])))["accelerations"]())
    assert not [one for one in found if not isinstance(one, str) and not one.hit]
    assert any(not isinstance(one, str) for one in found)


def test_what_is_not_hit_not_known_or_not_readable_is_a_miss_with_its_reason(benchmark, capsys, tmp_path, monkeypatch):
    recorded = benchmark.recorded
    monkeypatch.setattr(benchmark, "recorded", lambda data: replace(recorded(data), ways=("accelerations",)))

    def write(name, holds):
        (tmp_path / f"{name}.json").write_text(holds if isinstance(holds, str) else json.dumps(holds))

    y, inputs = MILD["y"][0], MILD["inputs"]
    one = {"name": "double_pendulum", "rods": True, "inputs": inputs, "t": [1]}
    unsaid = {"name": "pendulum", "inputs": {"L": 1, "theta0": 0.0, "w0": 1.0}, "period": None}
    lines = {
        "a_off": (one | {"y": [[y[0] + 2e-9, *y[1:]]]}, "2.0e-09  1.0e-09  MISS"),
        "a_sure": (one | {"y": [[y[0] + 2e-6, *y[1:]]], "self_convergence_per_t": [1.0]}, "2.0e-06  1.0e-06  MISS"),
        "b_kind": ({"name": "geneva", "inputs": {"n": 3}}, "'geneva' with inputs n is no case"),
        "c_text": ("{", "not JSON: Expecting"),
        "d_none": ({"name": "x", "inputs": {"m": 1, "L": 1, "start": "theta=1"}}, "nothing to compare with"),
        "e_list": ([1], "it holds [1] and no object"),
        "f_inputs": ({"inputs": [1, 2]}, "inputs: [1, 2] is no object"),
        "g_null": (one | {"y": None}, "y: null; allowed: 1 rows"),
        "h_short": (one | {"t": [1, 2], "y": [y]}, "y: 1 rows for 2 times"),
        "i_nan": (one | {"y": [[math.nan, *y[1:]]]}, "not finite in the file"),
        "j_period": (unsaid, "null in the file"),
        "k_slider": ({"name": "slider_crank", "inputs": {"m": [1, 1, 1], "L": [1], "y0": [0, 1]}, "t": [1], "y": [[1]]},
                     "inputs.L: 1 numbers; a slider-crank has 2"),
    }  # fmt: skip
    lines = dict(list(lines.items())[: tries(len(lines), 5)])
    for name, (holds, _) in lines.items():
        write(name, holds)
    write("z_right", one | {"y": [y]})
    status = benchmark.main([str(tmp_path)])
    told = capsys.readouterr().out
    assert status == 1
    for name, (_, words) in lines.items():
        mine = [line for line in told.splitlines() if line.startswith(name) and "MISS" in line]
        assert mine and all(words in line for line in mine), name
    assert sum(line.startswith("z_right") and line.endswith("hit") for line in told.splitlines()) == 3
    assert benchmark.main([str(tmp_path / "a_off.json")]) == 2


def test_inputs_that_nothing_asks_for_are_told(benchmark):
    case = {"name": "pendulum", "inputs": {"L": 1, "theta0": 0.5, "bob_radius": 0.1}, "t": [0.1], "y": [[0.47]]}
    notes = [one for one in benchmark.comparisons(case)["accelerations"]() if isinstance(one, str)]
    assert notes == ["inputs not used: bob_radius"]


def test_a_slider_crank_reads_its_lengths_as_a_four_bar_does(benchmark):
    inputs = {"m": [1, 1, 1], "y0": [0.5, 2.0]}
    both = [benchmark.recorded({"name": "slider_crank", "inputs": inputs | lengths}).mechanism.links[2].position
            for lengths in ({"L": [0.3, 1.0]}, {"r": 0.3, "l": 1.0})]  # fmt: skip
    assert np.array_equal(*both)


def test_masses_of_a_slider_crank_may_be_named_and_columns_carry_their_links(benchmark):
    named = {"m_crank": 1, "m_rod": 2, "m_slider": 0.5, "r": 0.5, "l": 1.3, "theta0": 0.7, "omega0": 2.0}
    rows = {"m": [1, 2, 0.5], "L": [0.5, 1.3], "y0": [0.7, 2.0]}
    one, other = (benchmark.recorded({"name": "slider_crank", "inputs": inputs}) for inputs in (named, rows))
    assert repr(one.mechanism) == repr(other.mechanism)
    start = benchmark.simulate_mechanism(one.mechanism, [0.0])
    beside = math.sqrt(1.3**2 - (0.5 * math.sin(0.7)) ** 2)
    assert one.read(start, "x_slider")[0] == pytest.approx(0.5 * math.cos(0.7) + beside, abs=1e-14)
    assert one.read(start, "theta_crank")[0] == pytest.approx(0.7)
    assert one.read(start, "theta_rod")[0] == pytest.approx(-math.asin(0.5 * math.sin(0.7) / 1.3), abs=1e-14)


@pytest.mark.parametrize("name", ["sliding_ladder", "A07_cardan"])
def test_a_length_alone_makes_no_pendulum_of_a_mechanism_by_another_name(benchmark, name):
    with pytest.raises(benchmark.CaseError, match="is no case that is known here"):
        benchmark.recorded({"name": name, "inputs": {"L": 1, "m": 1, "theta0": 0.8}})


def test_bricard_s_linkage_and_the_governor_are_known_by_name_or_number(benchmark):
    for name in ("A04_Bricard", "bricard_mechanism"):
        case = benchmark.recorded({"name": name, "inputs": {"m": 1, "L": 1, "g": 9.81}})
        start = benchmark.simulate_mechanism(case.mechanism, [0.0])
        assert [case.read(start, column)[0] for column in case.vectors["P3"]] == pytest.approx([1.0, -1.0, 1.0])
    case = benchmark.recorded({"name": "A05_flyball_governor", "inputs": {}})
    start = benchmark.simulate_mechanism(case.mechanism, [0.0])
    assert case.read(start, "z")[0] == pytest.approx(0.5)
    assert case.read(start, "alpha")[0] == pytest.approx(math.pi / 6.0)
