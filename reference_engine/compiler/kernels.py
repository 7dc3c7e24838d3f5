"""How the kernels of this library are compiled.

Division follows IEEE (`error_model`), which the loops are written for: no branch to a Python
exception at every quotient.  Arrays are not counted (`_nrt`): numba otherwise counts each one that is
taken out of a tuple, up and down again, by instructions that lock the bus, which was two thirds of the
time of loops over small worlds and half of the time that they take to compile.  So a kernel makes no array and
returns none: it would not compile ("Only accept returning of array passed into the function").
An `entry` is what the fronts call. A `kernel` is only called by kernels and entries: it has no way in from Python or C.
A `part` is called from one or two places and is put there whole.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit

from reference_engine.compiler.pipeline import (
    EntryCompiler,
    KernelCompiler,
    callable_as,
    kept_with,
    stamp_of,
    without_literals,
)

SOURCES = stamp_of(Path(__file__).parents[1])
COMPILED: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
INTERNAL: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": KernelCompiler}


def entry(function: Callable[..., Any]) -> Any:
    """What numba keeps on disk is used again only while no source of this library has changed, callees included."""
    made = njit(cache=True, pipeline_class=EntryCompiler, **COMPILED)(function)
    return callable_as(kernel(function), kept_with(SOURCES, without_literals(made)))


def kernel(function: Callable[..., Any]) -> Any:
    return without_literals(njit(**COMPILED, **INTERNAL)(function))


def part(function: Callable[..., Any]) -> Any:
    return without_literals(njit(**COMPILED, **INTERNAL, forceinline=True)(function))
