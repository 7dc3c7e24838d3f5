"""How the kernels of this folder are compiled.

Division follows IEEE (`error_model`), which the loops are written for: no branch to a Python
exception at every quotient.  Arrays are not counted (`_nrt`): numba otherwise counts each one that is
taken out of a tuple, up and down again, by instructions that lock the bus, which was two thirds of the
time of loops over small worlds and half of the time that they take to compile.  So a kernel makes no array and
returns none: it would not compile ("Only accept returning of array passed into the function").
A `kernel` is only called by kernels, so it needs no entry from Python or C: half of the compile time.
An `entry` is what the fronts call. A `part` is called from one or two places and is put there whole: where structures
of many arrays are handed on, that saves pushing them all.
"""

from typing import Any

from numba import njit

from reference_engine.geometry.compiler import KernelCompiler

COMPILED: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
INTERNAL: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": KernelCompiler}
entry = njit(cache=True, **COMPILED)
kernel = njit(**COMPILED, **INTERNAL)
part = njit(**COMPILED, **INTERNAL, forceinline=True)
