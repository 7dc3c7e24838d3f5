"""Commands to propose, as one types them: quoted for a shell, and reaching the very cases that they are about."""

import shlex
from collections.abc import Iterable, Mapping, Sequence

from scenarios.catalogue import canonical_suite, suite_size
from validation.engines import default_engines
from validation.records.case import Case
from validation.records.names import engine_token
from validation.running.planning import STEP


def step_name(dt: float) -> str:
    """What `--dt` reads back to the last bit: 1/60, 0.004."""
    rate = round(1.0 / dt)
    return f"1/{rate}" if rate > 1 and 1.0 / rate == dt else repr(dt)


def stored_arguments(case: Case, run: int) -> str:
    """For `show` and `accept`. Time step and alias are the run's."""
    return f"{shlex.quote(case.label)} --engine {shlex.quote(engine_token(case))} --run {run}"


def rerun_arguments(cases: Sequence[Case], typed: Mapping[str, str] | None = None) -> str:
    """For `run` and `check`: these cases of one run once more. The canonical suite on all engines needs no words.

    `typed`: label -> the word to give for it, where that is another, such as the path of a scene file.
    """
    labels = dict.fromkeys(case.label for case in cases)
    engines = dict.fromkeys(engine_token(case) for case in cases)
    words: list[str] = []
    if len(labels) != suite_size() or set(labels) != {scenario.label for scenario in canonical_suite()}:
        given = ((typed or {}).get(label, label) for label in labels)
        # A path after `--` may begin like an option.
        words += [shlex.quote(f"./{word}" if word.startswith("-") else word) for word in given]
    if set(engines) != {f"{name}@fair" for name in default_engines()}:
        words += _options("--engine", engines)
    words += _options("--dt", dict.fromkeys(step_name(c.identity.dt) for c in cases if c.identity.dt != STEP))
    words += _options("--as", dict.fromkeys(c.identity.alias for c in cases if c.identity.alias))
    return " ".join(words)


def arguments_of_each(cases: Iterable[Case]) -> str:
    """For `accept`: nothing where it can take the whole run; else the engines to take, for without them it would not
    know which. Of cases that share a baseline it is the one without overrides, or the first.
    """
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.identity.key, []).append(case)
    unclear = [group for group in groups.values() if len(group) > 1 and all(":" in c.engine_label for c in group)]
    left_out = {engine_token(case) for group in unclear for case in group[1:]}
    if not unclear:
        return ""
    engines = dict.fromkeys(engine_token(case) for group in groups.values() for case in group)
    return " ".join(_options("--engine", [word for word in engines if word not in left_out]))


def _options(name: str, values: Iterable[str]) -> list[str]:
    return [word for value in values for word in (name, shlex.quote(value))]
