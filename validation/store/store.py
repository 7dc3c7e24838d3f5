"""The store: each method is one transaction. What it refuses is a StoreError of one line."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from validation.store.comparisons import Comparisons
from validation.store.connection import connect, reached, unreachable
from validation.store.ensembles import Ensembles
from validation.store.finds import Finds
from validation.store.groups import Groups
from validation.store.judgements import Judgements
from validation.store.ledger import Ledger
from validation.store.migration import TakenBack, migrate, take_back
from validation.store.overview import Overview
from validation.store.passports import Passports
from validation.store.retention import Retention
from validation.store.runs import Runs


class Store(Runs, Ensembles, Judgements, Groups, Ledger, Overview, Finds, Comparisons, Passports, Retention):
    """Everything that is remembered, by noun."""


def open_store(where: str | Path) -> Store:
    """The database at a path (SQLite) or a SQLAlchemy URL; made where there is none, migrated where it is older.

    Raises StoreError: cannot be reached, read or written; no database; newer than this Upright; somebody else's.
    """
    with _reached(where) as (engine, name):
        migrate(engine, name)
    return Store(engine, name)


def take_back_store(where: str | Path, revision: str) -> TakenBack:
    """The database's tables become those of an older Upright, whatever revision they are of now.

    Raises StoreError as `open_store` does, and where the revision is none, or newer than the database."""
    with _reached(where) as (engine, name):
        done = take_back(engine, name, revision)
    engine.dispose()
    return done


@contextmanager
def _reached(where: str | Path) -> Iterator[tuple[Engine, str]]:
    """Closed again where something fails in here."""
    engine, name = connect(str(where))
    try:
        if engine.dialect.name != "sqlite":
            try:
                reached(engine)
            except SQLAlchemyError as error:
                raise unreachable(name, error) from None
        yield engine, name
    except BaseException:
        engine.dispose()
        raise
