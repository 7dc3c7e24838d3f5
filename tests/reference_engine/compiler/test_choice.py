"""Which compiler is used, and what kernels do where they are not used as meant."""

import importlib
import os
import pkgutil
import random
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import reference_engine
from reference_engine.compiler import chosen_compiler
from reference_engine.compiler.kernels import PUBLIC, entry, kernel, name_of
from tests.effort import few, tries
from validation.running.kernel_cache import CacheError, kernel_folder

ROOT = Path(__file__).parents[3]
DISABLED = bool(numba.config.DISABLE_JIT)
OF_ANOTHER_NUMBA = (
    "import importlib.metadata as metadata, sys; version = metadata.version\n"
    "metadata.version = lambda name: '0.99.1' if name == 'numba' else version(name)\n"
)


def python(program: str, cache: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A program that imports from the repository, with the compiler that suits the numba installed."""
    plain = {name: value for name, value in os.environ.items() if name != "UPRIGHT_COMPILER"}
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT, env={**plain, "NUMBA_CACHE_DIR": str(cache), **environment}, capture_output=True, text=True,
    )  # fmt: skip


@kernel
def second_moment(x: np.ndarray, k: int) -> float:
    return x[k] ** 2 / x[0]


@entry
def moment_of(x: np.ndarray, k: int, out: np.ndarray) -> float:
    out[k] += second_moment(x, -k) / 3.0
    return second_moment(x, k)


MOMENT = (
    "import numpy as np; from tests.reference_engine.compiler.test_choice import moment_of\n"
    "out = np.zeros(3); print(moment_of(np.array([0.1, 0.7, 1.3]), {k}, out).hex(), [x.hex() for x in out.tolist()])\n"
)


@pytest.mark.skipif(DISABLED, reason="kernels are Python functions")
def test_every_kernel_called_from_python_is_a_type_error_that_names_what_to_call():
    """That is an entry which compiled code reaches the kernel from; no kernel is without one."""
    for module in pkgutil.walk_packages(reference_engine.__path__, "reference_engine."):
        importlib.import_module(module.name)
    kernels = {
        value
        for name, module in sys.modules.items()
        if name.startswith("reference_engine.")
        for value in vars(module).values()
        if type(value).__name__ == "Kernel"
    }
    assert len(kernels) > 300
    unused = []
    for one in random.Random(1).sample(sorted(kernels, key=name_of), tries(len(kernels), 40)):
        with pytest.raises(TypeError, match=rf"{one.py_func.__name__} is a kernel, .* call instead: ") as raised:
            one(1.0, x=2.0)
        if "call instead: reference_engine." not in str(raised.value):
            unused.append(f"{one.py_func.__module__}.{one.py_func.__name__}")
    assert unused == []


@pytest.mark.skipif(DISABLED, reason="kernels are Python functions")
def test_a_kernel_names_the_entry_that_calls_it():
    with pytest.raises(
        TypeError, match=r"test_choice\.second_moment is a kernel.*call instead: \S*test_choice\.moment_of"
    ):
        second_moment(np.ones(3), 1)


@pytest.mark.skipif(DISABLED, reason="kernels are Python functions")
@pytest.mark.parametrize(
    ("module", "kernel", "instead"),
    few(
        1,
        [
            ("contactsim.edges", "", "reference_engine.faithful_simulate "),
            ("planar.narrow_phase", "best_edge", "reference_engine.simulate "),
            ("geometry.gjk", "", "reference_engine.geometry.planar_proximity.planar_proximities or "),
            ("vectors", "", "reference_engine.simulate "),
        ],
    ),
)
def test_a_kernel_whose_entries_are_not_loaded_names_the_public_function(module, kernel, instead, tmp_path):
    done = python(
        f"import reference_engine.{module} as m\n"
        f"all = [v for v in vars(m).values() if type(v).__name__ == 'Kernel' and v.py_func.__module__ == m.__name__]\n"
        f"(getattr(m, '{kernel}') if '{kernel}' else all[0])(1.0)",
        tmp_path,
    )
    assert "is a kernel, which only compiled code can call" in done.stderr
    assert f"call instead: the public function {instead}" in done.stderr


def test_the_public_functions_that_are_named_exist():
    for name in " or ".join(PUBLIC.values()).split(" or "):
        module, _, function = name.rpartition(".")
        assert callable(getattr(importlib.import_module(module), function))
    packages = {module.name for module in pkgutil.iter_modules(reference_engine.__path__) if module.ispkg}
    assert packages - PUBLIC.keys() == {"compiler", "planar_model"}, "whose kernels are those of the planar engine"


@pytest.mark.parametrize(("compiler", "k"), few(1, [("upright", 3), ("numba", -4), ("upright", -4), ("numba", 3)]))
def test_an_index_out_of_bounds_is_an_error_where_numba_is_told_to_check(k, compiler, tmp_path):
    done = python(MOMENT.format(k=k), tmp_path, UPRIGHT_COMPILER=compiler, NUMBA_BOUNDSCHECK="1")
    assert done.returncode == 1
    assert "IndexError: index is out of bounds" in done.stderr


@pytest.mark.slow
def test_indices_within_bounds_give_the_same_bits_by_either_compiler_checked_or_not_and_in_python(tmp_path):
    """Of one cache: what was compiled in one way is not used in another."""
    ways = (
        {}, {"UPRIGHT_COMPILER": "numba", "NUMBA_BOUNDSCHECK": "1"}, {"NUMBA_DISABLE_JIT": "1"},
        {"UPRIGHT_COMPILER": "numba"}, {"NUMBA_BOUNDSCHECK": "1"},
    )  # fmt: skip
    results = [python(MOMENT.format(k=-2), tmp_path, **way).stdout for way in ways]
    assert "0x" in results[0] and set(results) == {results[0]}


@pytest.mark.slow
def test_with_a_numba_that_was_not_tested_numbas_own_pipeline_is_used_after_one_warning(tmp_path):
    """Processes started from that one use it too, and do not warn again."""
    program = OF_ANOTHER_NUMBA + MOMENT.format(k=1)
    again = f"import subprocess; print(subprocess.run([sys.executable, '-c', {program!r}]).returncode)"
    shown = (
        "from reference_engine.compiler import kernels; print(kernels.OURS, 'pipeline' in vars(kernels), flush=True)\n"
    )
    done = python(program + shown + again, tmp_path)
    expected = python(MOMENT.format(k=1), tmp_path).stdout.strip()
    assert done.stdout.splitlines() == [expected, "False False", expected, "0"]
    assert done.stderr.count("RuntimeWarning: Upright's compiler was not tested on numba 0.99.1") == 1


def test_each_compiler_and_checked_code_have_a_cache_of_their_own(monkeypatch):
    folders = set()
    for compiler in ("upright", "numba"):
        for checked in ("0", "1"):
            monkeypatch.setenv("UPRIGHT_COMPILER", compiler)
            monkeypatch.setenv("NUMBA_BOUNDSCHECK", checked)
            folders.add(kernel_folder())
    assert len(folders) == 4


def test_another_value_is_refused_with_those_that_there_are(monkeypatch):
    monkeypatch.setenv("UPRIGHT_COMPILER", "gcc")
    with pytest.raises(ValueError, match="UPRIGHT_COMPILER is 'gcc'; it may be 'upright' or 'numba'"):
        chosen_compiler()
    with pytest.raises(CacheError, match="UPRIGHT_COMPILER is 'gcc'"):
        kernel_folder()


SMALL = (
    "compiler/test_structure.py",
    "contact_problems/test_elimination.py",
    "contact_problems/test_friction_input.py",
    "planar/test_external.py",
    "test_trigonometry.py",
)


@pytest.mark.slow
@pytest.mark.parametrize("variable", ["NUMBA_BOUNDSCHECK", "NUMBA_DISABLE_JIT"])
def test_small_suites_pass_with_bounds_checked_and_as_python_functions(variable):
    suites = [str(ROOT / "tests" / "reference_engine" / name) for name in SMALL]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *suites],
        cwd=ROOT, env={**os.environ, variable: "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
