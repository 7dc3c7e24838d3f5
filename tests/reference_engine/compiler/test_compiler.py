"""Kernels are compiled once, as part of the entry that calls them."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.caching import NullCache

from reference_engine.compiler.kernels import OURS, entry, kernel, stamp_of
from reference_engine.compiler.pipeline import IntermediateCode

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT) or not OURS, reason="not compiled by our pipeline")


@kernel
def norm(x: np.ndarray) -> float:
    return np.hypot(x[0], x[1])


@kernel
def twice_the_norm(x: np.ndarray) -> float:
    return norm(x) + norm(x)


@entry
def thrice_the_norm(x: np.ndarray) -> float:
    return norm(x) + twice_the_norm(x)


def test_an_entry_runs_the_kernels_that_its_kernels_call():
    assert thrice_the_norm(np.array([3.0, 4.0])) == 15.0


def test_no_machine_code_is_made_of_a_kernel():
    anew = entry(thrice_the_norm.py_func)
    anew._cache = NullCache()  # else nothing is made where a test run before this one has kept it
    anew(np.array([3.0, 4.0]))
    for made in (norm, twice_the_norm):
        (compiled,) = made.overloads.values()
        assert isinstance(compiled.library, IntermediateCode)
        assert not compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)


@pytest.mark.slow
def test_a_callee_edited_in_another_file_makes_what_is_kept_on_disk_stale(tmp_path):
    (tmp_path / "callee.py").write_text("G = 9.81\n")
    before = stamp_of(tmp_path)
    assert stamp_of(tmp_path) == before
    (tmp_path / "callee.py").write_text("G = 9.810\n")
    assert stamp_of(tmp_path) != before
    program = (
        "import sys; from reference_engine.compiler import kernels; kernels.SOURCES = sys.argv[1]\n"
        "import numpy as np; from tests.reference_engine.compiler import test_compiler as t\n"
        "t.thrice_the_norm(np.array([3.0, 4.0])); print(sum(t.thrice_the_norm.stats.cache_hits.values()))"
    )
    hits = [
        subprocess.run(
            [sys.executable, "-c", program, stamp],
            cwd=ROOT, env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}, capture_output=True, text=True, check=True,
        ).stdout.strip()
        for stamp in ("one", "one", "another")
    ]  # fmt: skip
    assert hits == ["0", "1", "0"]


@pytest.mark.slow
def test_a_cached_entry_needs_none_of_its_kernels(tmp_path):
    """The second process compiles nothing and says the same."""
    program = (
        "import numpy as np; from tests.reference_engine.compiler import test_compiler as t\n"
        "print(t.thrice_the_norm(np.array([3.0, 4.0])), len(t.norm.signatures), "
        "sum(t.thrice_the_norm.stats.cache_hits.values()))"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT, env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}, capture_output=True, text=True, check=True,
        ).stdout.split()
        for _ in range(2)
    ]  # fmt: skip
    assert said == [["15.0", "1", "0"], ["15.0", "0", "1"]]
