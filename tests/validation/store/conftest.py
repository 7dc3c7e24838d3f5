"""A store to write in: SQLite, and any other database that UPRIGHT_TEST_DB names (its tables are dropped)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from validation.store import Store, open_store

WHERE = ["sqlite", *filter(None, [os.environ.get("UPRIGHT_TEST_DB")])]


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database without a run, to be copied: to make its tables takes ten times as long."""
    path = tmp_path_factory.mktemp("empty") / "upright.db"
    with open_store(path):
        return path


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
def store(where: str, empty: Path) -> Iterator[Store]:
    if "://" not in where:
        shutil.copy(empty, where)
    with open_store(where) as opened:
        yield opened
