"""Every page in a real browser at 1400 and 390 px, light and dark: nothing wider than the screen, pages that are named,
and nothing serious by the audit of axe-core in what we write. Faults 9 and 10 of a review of the pages."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from itertools import product
from typing import Any

import pytest

from tests.browser import needs_browser, opened_browser
from tests.dashboard.test_dashboard import PAGES, address, served, settled

pytestmark = [needs_browser, pytest.mark.slow]
__all__ = ["address", "served"]  # fixtures

WIDE, NARROW = 1400, 390  # px
OF_STREAMLIT = {
    ("scrollable-region-focusable", "pre"): "a command too long for its box, in its own scroll area",
}
"""(rule, element) of findings in elements that Streamlit draws and gives no way to change -> what it is of."""


@pytest.fixture(scope="module", params=list(product(("light", "dark"), (WIDE, NARROW))), ids=lambda p: f"{p[0]}-{p[1]}")
def page(request: Any) -> Iterator[Any]:
    scheme, width = request.param
    with opened_browser() as browser:
        opened = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        opened.set_default_timeout(60_000)
        yield opened


@pytest.fixture(scope="module")
def axe() -> str:
    pytest.importorskip("axe_playwright_python")
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("where", (*PAGES, "?tick=all", "playground"))
def test_a_page_is_usable_and_the_audit_finds_nothing_serious_in_what_we_write(
    page: Any, address: str, axe: str, where: str
) -> None:
    """Fault 9: "at 390 px: navigation behind an unlabelled sign, columns off-screen". Fault 10: "words at 3.89:1"."""
    page.goto(f"{address}/{where}")
    settled(page)
    page.wait_for_timeout(1500)
    assert page.inner_text("h1.page"), where
    assert page.locator("[data-testid=stException]").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    links = page.get_by_role("navigation", name="Pages").get_by_role("link")
    if page.viewport_size["width"] == NARROW:
        assert [link.strip() for link in links.all_inner_texts()][:3] == ["Inbox", "Review", "Case"]
        assert not page.locator("[data-testid=stExpandSidebarButton]").is_visible(), "an unlabelled sign"
        cells = "[...document.querySelectorAll('.grid.wide td')]"
        assert page.evaluate(f"{cells}.every(td => td.getBoundingClientRect().right <= innerWidth)"), "cards"
    behind = page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor")
    for frame in page.frames[1:]:  # they are transparent, and the audit sees nothing behind them
        frame.evaluate("colour => { document.documentElement.style.background = colour }", behind)
    found = [finding for frame in page.frames for finding in serious(frame, axe)]
    assert [one for one in found if one[:2] not in OF_STREAMLIT] == []


def serious(frame: Any, axe: str) -> list[tuple[str, str, str]]:
    """(rule, element, HTML and what is wrong with it)"""
    frame.evaluate(axe)
    report = frame.evaluate("axe.run(document, {resultTypes: ['violations'], iframes: false})")
    return [
        (violation["id"], node["html"].partition(" ")[0].strip("<>"), f"{node['html'][:200]}: {node['failureSummary']}")
        for violation in report["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]
