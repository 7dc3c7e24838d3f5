"""How kernels are compiled (docs/compiler.md), and by whom: `chosen_compiler`, which imports no numba."""

import importlib.metadata
import os
import warnings

COMPILERS = "upright", "numba"  # ours, and the pipeline that comes with numba
VARIABLE = "UPRIGHT_COMPILER"
TESTED = ("0.68.",)  # releases of numba that our pipeline was tested on


def chosen_compiler() -> str:
    """ "upright" for our pipeline, "numba" for numba's own: $UPRIGHT_COMPILER, else what suits the numba installed.

    A numba that is not TESTED compiles by its own pipeline, after one warning: the choice is left in the environment,
    where processes started from this one find it. Raises ValueError where the variable says something else.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen:
        if chosen not in COMPILERS:
            raise ValueError(f"{VARIABLE} is {chosen!r}; it may be 'upright' or 'numba'")
        return chosen
    version = importlib.metadata.version("numba")
    if version.startswith(TESTED):
        return "upright"
    os.environ[VARIABLE] = "numba"
    tested = ", ".join(f"{release}x" for release in TESTED)
    warnings.warn(
        f"Upright's compiler was not tested on numba {version} (but on {tested}): numba's own pipeline compiles the "
        f"kernels, to the same results, but several times slower. {VARIABLE}=numba chooses this without a warning.",
        RuntimeWarning,
        stacklevel=2,
    )
    return "numba"
