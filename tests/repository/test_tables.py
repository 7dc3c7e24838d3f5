"""Tables in docs that repeat what the code declares are as the code has them."""

from __future__ import annotations

import pytest

from ci.tables import DOCS, TABLE, TABLES, filled

PAGES = {
    path.name: text for path in DOCS.glob("*.md") for text in [path.read_text(encoding="utf-8")] if TABLE.search(text)
}


def test_every_table_stands_on_one_page() -> None:
    assert sorted(found[2] for text in PAGES.values() for found in TABLE.finditer(text)) == sorted(TABLES)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_its_tables_as_the_code_has_them(page: str) -> None:
    assert PAGES[page] == filled(PAGES[page]), "python -P ci/tables.py"
