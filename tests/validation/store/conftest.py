"""A store to write in: SQLite, and any other database that UPRIGHT_TEST_DB names (its tables are dropped)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from validation.store import Store, open_store

WHERE = ["sqlite", *filter(None, [os.environ.get("UPRIGHT_TEST_DB")])]


@pytest.fixture(params=WHERE, ids=lambda where: where.partition(":")[0])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "upright.db")
    engine = sa.create_engine(request.param)
    tables = sa.MetaData()
    tables.reflect(engine)
    tables.drop_all(engine)
    engine.dispose()
    return str(request.param)


@pytest.fixture
def store(where: str) -> Iterator[Store]:
    with open_store(where) as opened:
        yield opened
