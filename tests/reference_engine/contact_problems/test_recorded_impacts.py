"""ci/benchmarks/impacts.py: what is right is hit, what is falsified or cannot be read a miss, and nothing ends it."""

import copy
import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.effort import tries

ROOT = Path(__file__).parents[3]
DATA = ROOT / "ci" / "benchmarks" / "data" / "impacts"


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("impacts_benchmark", ROOT / "ci" / "benchmarks" / "impacts.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def solve(benchmark, capsys, tmp_path):
    """Exit status and what is printed, for files by name: what they hold, or their text."""

    def solved(**files):
        for name, satisfies in files.items():
            text = satisfies if isinstance(satisfies, str) else json.dumps(satisfies)
            (tmp_path / f"{name}.json").write_text(text, encoding="latin-1")
        return benchmark.main([str(tmp_path)]), capsys.readouterr().out

    return solved


def recorded(name):
    return json.loads((DATA / f"{name}.json").read_text())


SPHERE = {
    "inputs": {"K": [[3.5, 0.0], [0.0, 1.0]], "u0_t_n": [5.0, -2.0], "mu": 0.2, "e": 0.5},
    "expected": {"newton": {"impulse_t_n": [-0.6, 3.0], "velocity_t_n": [2.9, 1.0], "delta_E": -3.87}},
}


def test_the_recorded_impacts_are_hit(benchmark, capsys):
    """Kane and Levinson's pendulum that slides back; rest; an impact without an approach; a corner in space."""
    assert benchmark.main([]) == 0
    assert "18 of 18 hit in 4 files" in capsys.readouterr().out


def test_every_figure_that_is_falsified_is_a_miss(solve):
    cases = {}
    for file in sorted(DATA.glob("*.json")):
        case = json.loads(file.read_text())
        for law, figures in case["expected"].items():
            for name, value in figures.items():
                other = copy.deepcopy(case)
                wrong = (np.array(value) * (1.0 + 1e-7) + 1e-8).tolist() if name not in ("phases", "mode") else None
                if name == "mode":
                    wrong = {"stick": "slip", "slip": "stick"}[value]
                elif name == "phases":
                    wrong = value[1:]
                other["expected"] = {law: figures | {name: wrong}}
                cases[f"{file.stem}_{law.replace('.', '_')}_{name}"] = other
    chosen = list(cases)[:: len(cases) // tries(len(cases))]
    status, told = solve(**{name: cases[name] for name in chosen})
    assert status == 1
    assert f"\n0 of {len(chosen)} hit" in told


def test_what_cannot_be_read_or_compared_is_a_miss_of_one_line_and_the_next_file_follows(solve):
    def with_figures(**figures):
        return {**SPHERE, "expected": {"newton": figures}}

    lines = {
        "a_bytes": ("\xff\xfe", "not text in UTF-8"),
        "a_text": ("{oops", "not JSON"),
        "b_list": ([1, 2], r"it holds [1, 2] and no object"),
        "c_nothing": ({"inputs": SPHERE["inputs"]}, "expected: is not there"),
        "d_null": ({**SPHERE, "expected": None}, "expected: null is no object"),
        "e_law": ({**SPHERE, "expected": {"hertz": {"delta_E": 0.0}}}, "law 'hertz': known are newton"),
        "f_figures": (with_figures(), "expected.newton: nothing to compare with"),
        "g_none": (with_figures(impulse_t_n=None), "null in the file"),
        "h_nan": (with_figures(impulse_t_n=[float("nan"), 3.0]), "not finite in the file"),
        "i_short": (with_figures(impulse_t_n=[3.0]), "shape (1,) in the file; here (2,)"),
        "j_words": (with_figures(delta_E="little"), "is not made of numbers"),
        "k_K": ({**SPHERE, "inputs": {"u0_t_n": [5.0, -2.0], "mu": 0.2, "e": 0.5}}, "inputs.K: it is not there"),
        "l_e": ({**SPHERE, "inputs": SPHERE["inputs"] | {"e": 1.5}}, "restitution: 1.5 is not"),
        "m_K": ({**SPHERE, "inputs": SPHERE["inputs"] | {"K": [[1.0]]}}, "inputs.K: its shape is (1, 1)"),
    }
    status, told = solve(**{name: satisfies for name, (satisfies, _) in lines.items()}, z_right=SPHERE)
    told = told.splitlines()[1:]
    assert status == 1
    assert len(told) == len(lines) + 2
    for (name, (_, words)), line in zip(lines.items(), told):
        assert line.startswith(name)
        assert "MISS" in line and words in line
    assert told[-2].startswith("z_right") and told[-2].endswith("hit")
    assert told[-1] == f"1 of {len(lines) + 1} hit in {len(lines) + 1} files"


def test_remarks_and_figures_of_other_names_are_told_and_end_nothing(solve):
    more = {"note": "by hand", "energy_ratio": 1.2, "selfconvergence": 1e-13, "phases": ["gliding"]}
    case = {**SPHERE, "expected": {"newton": SPHERE["expected"]["newton"] | more, "source": "by hand"}}
    status, told = solve(a=case)
    assert status == 0
    assert "not compared: energy_ratio, phases" in told


def test_phases_at_a_boundary_between_two_are_either(solve):
    """A ball that slides at 2.1 m/s, friction 0.2, e = 0.5: it stops sliding just when it parts."""
    base = {"K": [[3.5, 0.0], [0.0, 1.0]], "u0_t_n": [2.1, -2.0], "mu": 0.2, "e": 0.5}
    sliding = [["slip+1", "maxcomp"], ["slip+1", "end"]]
    stopped = [["slip+1", "maxcomp"], ["slip+1", "slipstop"], ["stick", "end"]]
    for phases in (sliding, stopped):
        assert solve(a={"inputs": base, "expected": {"newton": {"impulse_t_n": [-0.6, 3.0], "phases": phases}}})[0] == 0
    other = [["slip+1", "slipstop"], ["stick", "maxcomp"], ["stick", "end"]]
    assert solve(a={"inputs": base, "expected": {"newton": {"impulse_t_n": [-0.6, 3.0], "phases": other}}})[0] == 1


def test_a_mechanism_s_place_comes_from_its_mass_matrix_too(solve):
    case = recorded("double_pendulum_slides_back")
    for key in ("K", "u0_t_n"):
        case["inputs"].pop(key)
    assert solve(a=case)[0] == 0
    case["inputs"]["KE0"] *= 1.0 + 1e-9
    status, told = solve(a=case)
    assert status == 1 and "inputs.KE0" in told
