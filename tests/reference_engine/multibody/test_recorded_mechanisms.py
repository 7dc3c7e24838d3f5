"""ci/benchmarks/joints.py: what is off, unknown or unreadable is a miss with its reason, and the next file follows."""

import importlib.util
import json
import math
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DATA = ROOT / "ci" / "benchmarks" / "data" / "joints"


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("joints_benchmark_2", ROOT / "ci" / "benchmarks" / "joints.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


MILD = json.loads((DATA / "double_pendulum_rods_mild.json").read_text())
PENDULUM = {"mechanism": "pendulums", "inputs": {"m": [1], "L": [1], "g": 9.81, "y0": [0.5, 0.0]}}


def test_what_is_not_hit_not_known_or_not_readable_is_a_miss_with_its_reason(benchmark, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(benchmark, "WAYS", ("accelerations",))
    y = MILD["y"][0]
    one = {**MILD, "t": [1], "y": [y], "self_convergence_per_t": [0.0]}
    lines = {
        "a_off": (one | {"y": [[y[0] + 2e-9, *y[1:]]]}, "2.0e-09  1.0e-09  MISS"),
        "a_sure": (one | {"y": [[y[0] + 2e-6, *y[1:]]], "self_convergence_per_t": [1.0]}, "2.0e-06  1.0e-06  MISS"),
        "b_kind": ({"mechanism": "geneva"}, 'mechanism: "geneva"; allowed: pendulums, andrews'),
        "c_text": ("{", "not JSON: Expecting"),
        "d_none": (PENDULUM, "nothing to compare with"),
        "e_list": ([1], "it holds [1] and no object"),
        "f_inputs": (PENDULUM | {"inputs": [1, 2]}, "inputs: [1, 2] is no object"),
        "g_null": (one | {"y": None}, "null in the file"),
        "h_short": (one | {"t": [1, 2]}, "shape (1, 4) in the file; here (2, 4)"),
        "i_nan": (one | {"y": [[math.nan, *y[1:]]]}, "not finite in the file"),
        "j_period": (PENDULUM | {"period": None}, "period: null is not finite"),
        "k_lengths": (PENDULUM | {"inputs": PENDULUM["inputs"] | {"L": [1, 1]}}, "2 lengths, 1 masses, 2 numbers"),
        "l_column": (one | {"columns": ["th1", "th2", "w1", "w3"]}, "columns: 'w3'; allowed: th, w, x, y"),
    }
    for name, (holds, _) in (lines | {"z_right": (one, "")}).items():
        (tmp_path / f"{name}.json").write_text(holds if isinstance(holds, str) else json.dumps(holds))
    status = benchmark.main([str(tmp_path)])
    printed = capsys.readouterr().out.splitlines()
    assert status == 1
    for name, (_, words) in lines.items():
        missed = [line for line in printed if line.startswith(name) and "MISS" in line]
        assert missed and all(words in line for line in missed), name
    assert sum(line.startswith("z_right") and line.endswith("hit") for line in printed) == 3
    assert benchmark.main([str(tmp_path / "a_off.json")]) == 2
