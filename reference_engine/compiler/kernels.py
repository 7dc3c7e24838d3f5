"""The decorators of compiled functions.

An `entry` is what Python calls. A `kernel` is called by kernels and entries only: Python gets a TypeError that names
the entries. A `inlined` is a kernel that is called from one or two lines, and is inlined there.

Division follows IEEE (`error_model`), which the loops are written for: no branch to a Python exception at every
quotient. Arrays are not counted (`_nrt`): numba otherwise counts each one that is taken out of a tuple, up and down
again, by instructions that lock the bus, which was two thirds of the time of loops over small worlds and half of the
time that they take to compile. So a kernel makes no array and returns none: it would not compile ("Only accept
returning of array passed into the function").
"""

import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from numba import config, njit

from reference_engine.compiler import chosen_compiler

OURS = chosen_compiler() == "upright"
CONFIG: Any = config  # whose stubs lack what the environment sets
COMPILED: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
INTERNAL: dict[str, Any] = {**COMPILED, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
ENTRIES: list[Any] = []  # of the modules that are loaded
PUBLIC = {
    "planar": "reference_engine.simulate",
    "compliant": "reference_engine.simulate_compliant",
    "contact_problems": "reference_engine.contact_forces",
    "contactsim": "reference_engine.faithful_simulate",
    "geometry": "reference_engine.geometry.planar_proximity.planar_proximities or "
    "reference_engine.geometry.spatial_proximity.spatial_proximities",
    "heaps": "reference_engine.simulate_ellipsoids",
    "multibody": "reference_engine.simulate_mechanism",
    "spatial": "reference_engine.simulate_spatial",
}
"""Of a package: what to call in place of a kernel while no entry that reaches it is loaded."""

if OURS:
    from reference_engine.compiler import pipeline


def stamp_of(folder: Path) -> str:
    """Digest of the Python files in a folder, where they lie and when they were written, and of how they compile."""
    seen = hashlib.sha256(f"{OURS} {CONFIG.BOUNDSCHECK}".encode())
    for file in sorted(folder.rglob("*.py")):
        seen.update(f"{file} {file.stat().st_mtime_ns} {file.stat().st_size}".encode())
    return seen.hexdigest()


SOURCES = stamp_of(Path(__file__).parents[1])


def entry(function: Callable[..., Any]) -> Any:
    """A compiled function for Python. What is cached on disk is used while no source of this library has changed."""
    if CONFIG.DISABLE_JIT:
        return function
    own: dict[str, Any] = {"pipeline_class": pipeline.EntryCompiler} if OURS else {}
    made: Any = njit(cache=True, **COMPILED, **own)(function)
    try:
        file = made._cache._cache_file
        file._source_stamp = file._source_stamp, SOURCES  # numba looks at the entry's own file alone
    except AttributeError:  # of a numba to come: cached code could be stale
        made = njit(**COMPILED, **own)(function)
    ENTRIES.append(made)
    return pipeline.callable_as(kernel(function), made) if OURS else made


def kernel(function: Callable[..., Any], **options: Any) -> Any:
    if CONFIG.DISABLE_JIT:
        return function
    own: dict[str, Any] = {"pipeline_class": pipeline.KernelCompiler} if OURS else {}
    made: Any = njit(**INTERNAL, **own, **options)(function)
    made.__class__ = uncallable(type(made))  # type: ignore[arg-type]  # a class is
    return pipeline.without_literals(made) if OURS else made


def inlined(function: Callable[..., Any]) -> Any:
    return kernel(function, forceinline=True)


@cache
def uncallable(dispatcher: Any) -> Any:
    """numba's class of compiled functions, without a way in from Python: there is no machine code behind it."""
    return type("Kernel", (dispatcher,), {"__call__": refuse})


def refuse(kernel: Any, *_: Any, **__: Any) -> None:
    entries = [name_of(entry) for entry in ENTRIES if any(called is kernel for called in called_by(entry))]
    package = f"{kernel.py_func.__module__}..".split(".")[1]
    instead = ", ".join(entries[:3]) or f"the public function {PUBLIC.get(package, PUBLIC['planar'])}"
    raise TypeError(
        f"{name_of(kernel)} is a kernel, which only compiled code can call; call instead: {instead}"
        f" (NUMBA_DISABLE_JIT=1 makes all kernels Python functions)"
    )


def name_of(compiled: Any) -> str:
    return f"{compiled.py_func.__module__}.{compiled.py_func.__qualname__}"


def called_by(compiled: Any) -> Iterator[Any]:
    """All kernels that a compiled function calls, directly or not, each once."""
    seen, waiting = set(), [compiled]
    while waiting:
        function = waiting.pop().py_func
        names = function.__code__.co_names
        found = [function.__globals__.get(name) for name in names]
        found += [getattr(module, name, None) for module in found if isinstance(module, ModuleType) for name in names]
        found += [cell.cell_contents for cell in function.__closure__ or ()]
        for called in found:
            if hasattr(called, "py_func") and called not in seen:
                seen.add(called)
                waiting.append(called)
                yield called
