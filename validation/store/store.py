"""The store: each method is one transaction. What it refuses is a StoreError of one line."""

from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from validation.store.comparisons import Comparisons
from validation.store.connection import connect, reached, unreachable
from validation.store.ensembles import Ensembles
from validation.store.finds import Finds
from validation.store.groups import Groups
from validation.store.judgements import Judgements
from validation.store.ledger import Ledger
from validation.store.migration import migrate
from validation.store.overview import Overview
from validation.store.retention import Retention
from validation.store.runs import Runs


class Store(Runs, Ensembles, Judgements, Groups, Ledger, Overview, Finds, Comparisons, Retention):
    """Everything that is remembered, by noun."""


def open_store(where: str | Path) -> Store:
    """The database at a path (SQLite) or a SQLAlchemy URL; made where there is none, migrated where it is older.

    Raises StoreError: cannot be reached, read or written; no database; newer than this Upright; somebody else's.
    """
    engine, name = connect(str(where))
    try:
        if engine.dialect.name != "sqlite":
            try:
                reached(engine)
            except SQLAlchemyError as error:
                raise unreachable(name, error) from None
        migrate(engine, name)
    except BaseException:
        engine.dispose()
        raise
    return Store(engine, name)
