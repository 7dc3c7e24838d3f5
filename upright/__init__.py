"""Upright as a library: what the commands do, with results as tables and motions as arrays.

    import upright

    results = upright.run("bouncing-ball", engines=["pymunk"])
    print(results)
    results.table()                                     # a pandas DataFrame; without pandas a list of dicts
    upright.check("stack:n=3", engines=["pymunk"]).failures
    upright.compare("pymunk@default", "pymunk@fair", "stack:n=3").table()
    upright.simulate("pile", "mujoco")                  # in a notebook: moving

Everything is done in a process of Upright's own, so folders of yours called `validation` or `scenarios` stay yours.
Words are those of the command line. Every error that you can act on is an `UprightError` of one line.
"""

import os
from collections.abc import Sequence
from typing import Any

from upright.asking import DATABASE, UprightError, ask
from upright.results import Case, Comparison, Motion, Results, ask_motion

__all__ = ["Case", "Comparison", "Motion", "Results", "UprightError", "check", "compare", "run", "simulate"]

Words = str | os.PathLike[str]


def run(
    *scenarios: Words,
    engines: Words | Sequence[Words] = (),
    profile: str | None = None,
    dt: float | None = None,
    ensemble: int = 0,
    database: Words | None = None,
) -> Results:
    """Simulate scenarios on engines, measure and store them, as `upright run` does.

    Without a scenario the canonical suite, without an engine every one present. `dt` (s) is the time step [1/240];
    `ensemble` also runs so many perturbed initial states. Results lie in `database` (a file or a SQLAlchemy URL)
    [$UPRIGHT_DB, or upright.db in the current folder]. Raises UprightError.
    """
    return _session("run", scenarios, engines, database, profile=profile, dt=dt, ensemble=ensemble)


def check(
    *scenarios: Words,
    engines: Words | Sequence[Words] = (),
    profile: str | None = None,
    dt: float | None = None,
    database: Words | None = None,
    accept: str | None = None,
) -> Results:
    """Run, and compare each case with what was accepted, as `upright check` does: `failures` are those that got worse.

    `accept` says why what is measured is right from now on: it becomes the baseline. Raises UprightError.
    """
    return _session("check", scenarios, engines, database, profile=profile, dt=dt, accept=accept)


def compare(
    old: Words,
    new: Words,
    *scenarios: Words,
    profile: str | None = None,
    dt: float | None = None,
    options: bool = False,
    ensemble: int | None = None,
    database: Words | None = None,
) -> Comparison:
    """What changed from one version or setting of an engine to another, as `upright compare` does.

    `options`: also with each other choice of each setting. `ensemble`: perturbed initial states on both sides
    for chaotic metrics [20]; 0 for none. Raises UprightError.
    """
    request = {
        "do": "compare",
        "sides": [str(old), str(new)],
        "scenarios": [str(word) for word in scenarios],
        "profile": profile,
        "dt": dt,
        "options": options,
        "ensemble": ensemble,
        "database": _database(database),
    }
    found = ask(request)
    return Comparison(names=tuple(found["names"]), scenarios=found["scenarios"], text=found["text"])


def simulate(scenario: Words, engine: Words, *, profile: str | None = None, dt: float | None = None) -> Motion:
    """One scenario on one engine, and how it moves; nothing is kept. Raises UprightError."""
    return ask_motion(
        {"do": "simulate", "scenarios": [str(scenario)], "engines": [str(engine)], "profile": profile, "dt": dt}
    )


def _session(
    do: str, scenarios: Sequence[Words], engines: Words | Sequence[Words], database: Words | None, **given: Any
) -> Results:
    chosen = [engines] if isinstance(engines, (str, os.PathLike)) else engines
    words = {"scenarios": [str(word) for word in scenarios], "engines": [str(word) for word in chosen]}
    found = ask({"do": do, **words, "database": _database(database), **given})
    cases = [Case(**row) for row in found["cases"]]
    return Results(cases=cases, **{name: found[name] for name in ("run", "database", "summary", "text")})


def _database(given: Words | None) -> str:
    return str(given or os.environ.get("UPRIGHT_DB") or DATABASE)
