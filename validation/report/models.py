"""What of a user's own model is not measured, once for each model."""

from collections.abc import Iterable

from scenarios.scenario import Scenario
from validation.records.text import one_line


def unmeasured_of(scenarios: Iterable[Scenario]) -> dict[str, tuple[str, ...]]:
    """Label of a model -> each thing by name; of several descriptions of one model, of all."""
    found: dict[str, dict[str, None]] = {}
    for scenario in scenarios:
        native = getattr(scenario.scene, "native", None)
        if native is not None:
            found.setdefault(scenario.label, {}).update(dict.fromkeys(native.unmeasured))
    return {label: tuple(things) for label, things in found.items()}


def unmeasured_lines(scenarios: Iterable[Scenario]) -> list[str]:
    lines: list[str] = []
    for label, things in unmeasured_of(scenarios).items():
        if things:
            lines += [one_line(f"not measured of {label}:"), *(f"  {one_line(thing)}" for thing in things)]
    return lines
