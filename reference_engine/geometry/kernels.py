"""How the kernels of this folder are compiled.

Division follows IEEE (`error_model`), which the loops are written for: no branch to a Python
exception at every quotient.  A `kernel` is only called by kernels, so it needs no entry from Python
or C: half of the compile time.  An `entry` is what the fronts call.
"""

from typing import Any

from numba import njit

INTERNAL: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
entry = njit(cache=True, error_model="numpy")
kernel = njit(cache=True, error_model="numpy", **INTERNAL)
