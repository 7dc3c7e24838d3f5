"""What was measured of a motion on the playground, in the words of reports."""

from collections.abc import Sequence
from typing import Any

from scenarios.scenario import Scenario
from validation.records.measurement import Measurement
from validation.records.names import metric_name_in
from validation.records.outcome import Outcome
from validation.records.quantities import contrast, quantity
from validation.report.sentences import describe_happening


def describe_measured(
    scenario: Scenario, measurements: Sequence[Measurement], outcomes: Sequence[Outcome]
) -> dict[str, Any]:
    """As JSON data: what happened, each right, wrong or unknown; every metric with its value, and the law it breaks."""
    rows = []
    for m in measurements:
        limit = scenario.laws.get(m.metric)
        name = metric_name_in(scenario.name, scenario.parameters_json, m.metric)
        broken = limit is not None and abs(m.value) > limit
        value, allowed = contrast(m.value, limit, m.unit) if broken and limit is not None else ("", "")
        rows.append(
            {
                "metric": m.metric,
                "name": name,
                "text": value or quantity(m.value, m.unit, resolution=m.resolution),
                "law": f"physics allows {allowed}" if broken else "",
                "error": m.metric.startswith("truth_error"),
            }
        )
    return {
        "outcomes": [{"text": describe_happening(one), "right": one.right} for one in outcomes],
        "values": rows,
        "truth": scenario.truth.source if not scenario.from_file else "",
    }
