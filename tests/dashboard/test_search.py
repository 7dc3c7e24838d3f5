"""What the Inbox lists is found and sorted; what is compared has one unit."""

from __future__ import annotations

from dashboard import reading
from tests.dashboard.test_deciding import GOOD, accepted, broken_and_regressed, checked, store
from tests.dashboard.test_pages import shown, words
from validation.store import Store

__all__ = ["store"]  # the fixture


def test_groups_are_found_and_sorted_and_both_are_in_the_address(store: Store) -> None:
    """Fault 12: "Missing: ... search and sort"."""
    broken_and_regressed(store)

    def rows(**query: str) -> str:
        """From the head of the table of groups on: above it the gravest plays."""
        return words(shown("inbox", **query)).partition("worst metric")[2]

    def regression_first(table: str) -> bool:
        return table.index(">regressed<") < table.index(">broken<")

    assert not regression_first(rows()), "the gravest first"
    assert regression_first(rows(sort="scenario")), "dominoes before pile and stack"
    assert not regression_first(rows(sort="most cases")), "two cases crash"
    found = rows(find="Dominoes pymunk")
    assert ">regressed<" in found and ">broken<" not in found
    assert "None of these" in words(shown("inbox", find="nothing-of-the-kind"))
    page = shown("inbox")
    page.text_input(key="find").set_value("dominoes").run()
    assert page.query_params["find"] in ("dominoes", ["dominoes"])


def test_new_cases_and_standing_defects_are_found_and_sorted_by_the_same_words(store: Store) -> None:
    accepted(store, {"stack": 0.2, "pile": 0.3})
    checked(store, {"stack": 0.2, "pile": 0.3, "dominoes": GOOD, "chain": GOOD})

    def rows(**query: str) -> str:
        """Of new cases, then of standing defects."""
        return words(shown("inbox", **query)).partition("against the baseline")[2]

    whole, by_scenario = rows(), rows(sort="scenario")
    assert whole.index("dominoes") < whole.index("chain") < whole.index("pile") < whole.index("stack")
    assert by_scenario.index("chain") < by_scenario.index("dominoes") < by_scenario.index("pile")
    found = rows(find="chain:n=10 pymunk@fair")
    assert "chain" in found and not any(name in found for name in ("dominoes", "pile", "stack"))
    found = rows(find="Stack:n=10 penetration mean")
    assert "stack" in found and not any(name in found for name in ("dominoes", "pile", "chain"))
    assert "None of these" in rows(find="nothing-of-the-kind")


def test_a_comparison_has_one_unit(store: Store) -> None:
    """Fault 6: "0.296 mm at rest, 3.7e-06 m before; allowed up to 3.7e-05 m"; "8.7 tolerances" unexplained."""
    accepted(store, {"stack": 3.7e-6})
    checked(store, {"stack": 2.96e-4})
    (group,) = store.groups(2)
    effect = reading.effect_of(group.worst)
    assert effect
    for value in (effect.now, effect.accepted):
        assert value.split()[-1] == "mm", effect
    assert "e-0" not in effect.means and effect.means.count(" mm") == 3, effect.means
    assert "tolerances" not in effect.summary and effect.summary.endswith("times the move that is allowed")
