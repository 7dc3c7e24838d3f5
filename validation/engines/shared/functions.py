"""A function of the user's own that builds an engine's world: imported as engines' classes are, in the engine's
process, from where it is, after its files are found to be those that were read."""

import difflib
import hashlib
import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scenarios.native import Model
from validation.engines import in_a_line, users_folders_last
from validation.engines.engine import ModelError

STEP = 1.0 / 60.0  # s, where neither the function nor its world has a step of its own
LONGEST_STEP = 1.0  # s


def built(
    given: Model, kind: type, name: str, own_step: Callable[[Any], float] = lambda world: STEP
) -> tuple[Any, float]:
    """What the function returns, and its time step, s: the function's `dt`, else that of the world. `kind`: the
    engine's world, and what it is called.

    Raises ModelError, one line: whatever the function raises, or returns in place of a world.
    """
    if given.function is None:
        raise ModelError(f"{given.file}: no function is named; give MODULE:FUNCTION")
    if given.start.values or given.start.keyframe is not None:
        raise ModelError(f"{given.function}: starts as the function builds it; leave --from out")
    module, _, wanted = given.function.partition(":")
    with users_folders_last(permanently=True):
        _check_files(given, module)
        try:
            found = importlib.import_module(module)
            function = getattr(found, wanted, None)
            if function is None:
                near = difflib.get_close_matches(wanted, dir(found), n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise ModelError(f"{given.function}: {module!r} has no {wanted!r}{hint}")
            world = function()
        except ModelError:
            raise
        except (Exception, SystemExit) as error:
            raise ModelError(f"{given.function} raised {in_a_line(error)}") from error
    if not isinstance(world, kind):
        raise ModelError(f"{given.function} returned {world!r:.60} ({type(world).__name__}); it should be a {name}")
    step = getattr(function, "dt", None)
    step = own_step(world) if step is None else step
    if isinstance(step, bool) or not isinstance(step, (int, float)) or not 0.0 < step <= LONGEST_STEP:
        raise ModelError(f"{given.function}.dt: {step!r:.60}; allowed: a number above 0 and at most {LONGEST_STEP:g} s")
    return world, float(step)


def in_double(single: float) -> float:
    """s: the time step that single precision stands for: one over a whole number, or seven digits."""
    rate = round(1.0 / single) if single > 0.0 else 0
    meant = 1.0 / rate if rate else 0.0
    return meant if abs(meant - single) <= 1e-6 * single else float(f"{single:.7g}")


def _check_files(given: Model, module: str) -> None:
    """What is imported has to be what was read: a stored function is run only where it still is."""
    top = module.partition(".")[0]
    spec = importlib.util.find_spec(top)
    origins = [*(spec.submodule_search_locations or ()), spec.origin] if spec else []
    roots = [Path(one).resolve().parent for one in origins if one]
    for one in given.files:
        if not any(_digest(root / one.path) == one.sha256 for root in roots):
            raise ModelError(f"{given.function}: {one.path} is not here, or not as it was; run it anew by its name")


def _digest(file: Path) -> str | None:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None
