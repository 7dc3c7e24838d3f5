"""From a path or URL to an engine that is ready to use; what a database refuses, as one line."""

import json
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial, wraps
from pathlib import Path
from types import FunctionType
from typing import Any, ParamSpec, Self, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    InvalidRequestError,
    NoSuchModuleError,
    OperationalError,
    SQLAlchemyError,
)

from validation.store import revision
from validation.store.errors import UNREADABLE, DamagedError, LostConnectionError, RolledBackError, StoreError
from validation.store.sqlite_file import ELSEWHERE, OpenFile, file_of, is_read_only, opened, read_only, read_only_url

BUSY_LIMIT = 30.0  # s that a writer waits for another
CONNECT_TIMEOUT = 10  # s to reach a server
RETRY_LIMIT = 30.0  # s for a server that was there to come back, as when it is restarted,
SOON_THERE = "the database system is"  # starting up, shutting down, in recovery
RETRY_EVERY = 0.5  # and s between two attempts
NO_RIGHT = "42501"  # PostgreSQL's codes of insufficient privilege,
DEADLOCK = "40P01"  # and of a transaction that was ended since it and a migration waited for each other
REPEATS = 4  # of a transaction in the midst of which the connection was lost
OUTCOME_EVERY = 0.05  # s between two questions what became of a transaction that was being committed
ALLOWED = "allowed: the path of a SQLite file, sqlite:///PATH, or a SQLAlchemy URL such as postgresql://user@host/name"
P = ParamSpec("P")
R = TypeVar("R")


def connect(where: str) -> tuple[Engine, str]:
    """An engine, and what to call the database in messages (never with a password). Raises StoreError."""
    url = _parse(where)
    if url.get_backend_name() == "sqlite":
        return _sqlite(url, file_of(url)), str(url.database)
    name = f"{url.host or 'localhost'}:{url.port or 5432}" if url.host else f"{url.database}"
    arguments = {"connect_timeout": CONNECT_TIMEOUT} if url.get_backend_name() == "postgresql" else {}
    try:
        return create_engine(url, connect_args=arguments, pool_pre_ping=True), name
    except NoSuchModuleError:
        raise StoreError(f"{url.drivername}: a kind of database that SQLAlchemy does not know; {ALLOWED}") from None
    except ModuleNotFoundError as error:
        package = "upright[postgresql]" if error.name == "psycopg" else error.name
        raise StoreError(f"{url.drivername}: needs the package {error.name!r}; pip install '{package}'") from None


def _parse(where: str) -> URL:
    if "://" not in where:
        if not where.strip():
            raise StoreError(f"no database given; {ALLOWED}")
        try:
            return URL.create("sqlite", database=str(Path(where).expanduser()))
        except RuntimeError:
            raise StoreError(f"{where[:200]!r}: there is no such user's folder; give another path") from None
    try:
        url = make_url(where)
    except (ArgumentError, ValueError):
        raise StoreError(f"{where.partition('://')[0]}://...: no URL that can be read; {ALLOWED}") from None
    if url.host and "@" in url.host:  # the tail of the password would be shown as the name of the server
        raise StoreError(f"{url.drivername}://...: more than one @; write one in a name or a password as %40")
    if url.drivername in ("postgresql", "postgres"):  # SQLAlchemy's default driver depends on its version
        url = url.set(drivername="postgresql+psycopg")
    return url


def _sqlite(url: URL, path: Path) -> Engine:
    file = OpenFile(path)
    if only_read := path.exists() and is_read_only(path):
        creator = partial(sqlite3.connect, read_only_url(path), uri=True, timeout=BUSY_LIMIT, check_same_thread=False)
        engine = create_engine(url, creator=creator, execution_options={"read_only": path})
    else:
        engine = create_engine(url, connect_args={"timeout": BUSY_LIMIT}, execution_options={"file": file})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say, not where the driver guesses
        cursor = connection.cursor()
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute(f"PRAGMA busy_timeout={int(1000 * BUSY_LIMIT)}")
        if not only_read:
            if _may_be_ours(cursor):
                cursor.execute("PRAGMA journal_mode=WAL")  # which is written into the file
            cursor.execute("PRAGMA synchronous=FULL")  # what is stored outlives a power failure too
            file.is_opened(connection)
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A transaction that first reads and then writes would fail at once where another has written in between.
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _may_be_ours(cursor: sqlite3.Cursor) -> bool:
    """A new file, or one of Upright's: another program's is left as it is."""
    tables = {name for (name,) in cursor.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return not tables or {"alembic_version", "runs"} <= tables


@contextmanager
def reading(engine: Engine, name: str) -> Iterator[Connection]:
    with in_one_line(name), _connected(engine) as connection, connection.begin(), _damage_named(connection, name):
        yield connection


@contextmanager
def writing(engine: Engine, name: str, *, once: bool = False) -> Iterator[Connection]:
    """One transaction: all of it, or nothing. Ctrl-C comes after it.

    Raises LostFileError, and LostConnectionError where nothing was done, or, as far as is known, all of what may be
    done again. With `once` it may not: a server that was lost while it committed is asked what became of it. It is
    asked of nothing else, for one that has crashed may give the number of a lost transaction to another one."""
    must_be_writable(engine)
    ours = engine.execution_options(writes=True)
    with uninterrupted(), in_one_line(name), _connected(ours) as connection:
        number, committing = None, False
        try:
            with connection.begin():
                number = _number_of(connection) if once else None
                with _damage_named(connection, name):
                    yield connection
                committing = True
        except DBAPIError as error:
            if not (committing and number and error.connection_invalidated and _is_committed(engine, number)):
                raise
        if file := connection.get_execution_options().get("file"):
            file.must_be_there(opened(connection))


def _number_of(connection: Connection) -> int | None:
    """By which a server tells later what became of this transaction; None of a file, which is never lost."""
    if connection.dialect.name != "postgresql":
        return None
    return int(connection.exec_driver_sql("SELECT txid_current()").scalar_one())


def _is_committed(engine: Engine, number: int) -> bool:
    """Of a PostgreSQL transaction whose connection was lost while it was being committed."""
    deadline = time.monotonic() + RETRY_LIMIT
    while True:
        with _connected(engine) as connection:
            found = connection.exec_driver_sql(f"SELECT txid_status({number})").scalar_one()
        if found != "in progress" or time.monotonic() > deadline:
            return bool(found == "committed")
        time.sleep(OUTCOME_EVERY)


def vacuum(engine: Engine, name: str) -> None:
    """Give the space of motions that were removed back to the disk. In no transaction, and nobody writes meanwhile."""
    must_be_writable(engine)
    with in_one_line(name), _connected(engine) as connection:
        if connection.dialect.name == "postgresql":
            connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql("VACUUM FULL trajectories")
            return
        file = opened(connection)
        try:
            file.execute("VACUUM")
            file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:
            raise StoreError(f"{name}: {_why_of(error)}") from error


def must_be_writable(engine: Engine) -> None:
    """Raises StoreError."""
    if path := engine.get_execution_options().get("read_only"):
        raise read_only(path)


def _connected(engine: Engine) -> Connection:
    """A server that is restarted meanwhile is waited for. Nothing has begun yet, so nothing is done twice."""
    deadline = time.monotonic() + RETRY_LIMIT
    while True:
        try:
            return engine.connect()
        except OperationalError:
            if engine.dialect.name == "sqlite" or time.monotonic() > deadline:
                raise
            time.sleep(RETRY_EVERY)


def reached(engine: Engine) -> None:
    """Raises SQLAlchemyError where nothing answers at the server's address; one that is about to is waited for."""
    deadline = time.monotonic() + RETRY_LIMIT
    while True:
        try:
            return engine.connect().close()
        except OperationalError as error:
            if SOON_THERE not in str(error.orig) or time.monotonic() > deadline:
                raise
            time.sleep(RETRY_EVERY)


def repeated(method: Callable[P, R]) -> Callable[P, R]:
    """Done again where the connection was lost in the midst of it, or nothing of it was done."""

    @wraps(method)
    def again(*given: P.args, **named: P.kwargs) -> R:
        arguments: Any = [list(one) if isinstance(one, Iterator) else one for one in given]  # one is gone through once
        for _ in range(REPEATS):
            with suppress(RolledBackError):
                return method(*arguments, **named)
        return method(*arguments, **named)

    return again


def insert_new(connection: Connection, table: Any, rows: Sequence[dict[str, Any]]) -> None:
    """But for those that another process has just stored too. In one order in all processes, they never wait in a
    circle."""
    dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
    if rows:
        connection.execute(dialect.insert(table).on_conflict_do_nothing(), rows)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """A first Ctrl-C in here is raised at the end, a second one at once. In a callback, of which a database's library
    has many, Python would swallow it, and the run would go on."""
    if threading.current_thread() is not threading.main_thread():  # no other one gets signals
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    interrupted = False

    def defer(*_: object) -> None:
        nonlocal interrupted
        interrupted = True
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, defer)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if interrupted:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _damage_named(connection: Connection, name: str) -> Iterator[None]:
    """Where what is stored cannot be read, as a StoreError that names the value. What fails otherwise goes on."""
    try:
        yield
    except (*UNREADABLE, InvalidRequestError, OperationalError) as error:
        if isinstance(error, OperationalError) and "decode" not in str(error.orig):
            raise
        from validation.store.damage import damage_in  # of all the tables, and what reads them

        if words := damage_in(connection):
            raise DamagedError(f"{name}: damaged: {words}; restore a copy of it, or give another path") from error
        raise


@contextmanager
def in_one_line(name: str) -> Iterator[None]:
    """What the database refuses, as a StoreError."""
    try:
        yield
    except DBAPIError as failed:
        error = first_cause(failed)
        if error.connection_invalidated:
            raise LostConnectionError(f"{name}: the connection was lost ({_why(error)})") from error
        if getattr(error.orig, "sqlstate", "") == DEADLOCK:
            raise RolledBackError(f"{name}: {_why(error)}") from error
        raise StoreError(f"{name}: {_why(error)}") from error
    except SQLAlchemyError as error:
        raise StoreError(f"{name}: {' '.join(str(error).split())}") from error
    except OverflowError as error:
        raise StoreError(f"{name}: a number has more than the 64 bits that a database has for it") from error
    except ValueError as error:
        if type(error) is not ValueError and not isinstance(error, (UnicodeDecodeError, json.JSONDecodeError)):
            raise
        raise StoreError(f"{name}: damaged, what is stored cannot be read ({error}); give another path") from error


def first_cause(error: DBAPIError) -> DBAPIError:
    """A full disk ends the transaction, and what then goes back to its savepoint finds none: that is no cause."""
    earlier: BaseException | None = error
    while earlier is not None and "no such savepoint" in str(error.orig):
        earlier = earlier.__context__
        if isinstance(earlier, DBAPIError):
            return earlier
    return error


def unreachable(name: str, error: SQLAlchemyError) -> StoreError:
    return StoreError(f"cannot reach the database at {name} ({_why(error)}); {ELSEWHERE}")


def _why(error: SQLAlchemyError) -> str:
    """The driver's own words: of libpq's paragraphs the last cause."""
    cause = getattr(error, "orig", None) or error
    if isinstance(cause, sqlite3.Error):
        return _why_of(cause)
    text = str(cause).strip()
    if getattr(cause, "sqlstate", "") == NO_RIGHT:
        return f"{text.splitlines()[0]}; this role may not do that, give a URL with one that may (docs/database.md)"
    line = next(
        (line for line in reversed(text.splitlines()) if "failed: " in line), text.splitlines()[0] if text else ""
    )
    return line.split("failed: ")[-1].strip().removeprefix("FATAL:").strip().lower() or type(cause).__name__


def _why_of(error: sqlite3.Error) -> str:
    text = str(error).strip()
    if "locked" in text:
        return f"another process has kept it locked for {BUSY_LIMIT:g} s; wait for it, or use a database of your own"
    if "malformed" in text or "decode" in text:
        return "damaged (sqlite3 FILE '.recover' may save what is in it); give another path"
    if "full" in text:
        return "the disk is full; make room on it. What was stored before is whole"
    return text


class Database:
    """An open one. Use as a context manager, or `close` it.

    Each public method of what is built on it is one transaction, or reads only; it is done again where the connection
    is lost meanwhile."""

    def __init_subclass__(cls) -> None:
        for name, method in list(vars(cls).items()):
            if not name.startswith("_") and isinstance(method, FunctionType):
                setattr(cls, name, repeated(method))

    def __init__(self, engine: Engine, name: str, opened: str = revision.HEAD) -> None:
        self._engine = engine
        self.name = name  # path, or host:port
        self._opened = opened  # the revision of the tables, of which others may make another one meanwhile

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with uninterrupted():  # a Ctrl-C in it SQLAlchemy would print with its traceback
            self._engine.dispose()

    def must_be_writable(self) -> None:
        """Raises StoreError, before anything is run whose results could not be stored."""
        must_be_writable(self._engine)

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._of_its_revision(), reading(self._engine, self.name) as connection:
            yield connection

    @contextmanager
    def _writing(self, *, once: bool = False) -> Iterator[Connection]:
        """`once`: of what would be there twice if it were done again."""
        with self._of_its_revision(), writing(self._engine, self.name, once=once) as connection:
            revision.lock(connection, alone=False)
            revision.must_not_be_older(connection, self.name, self._opened)
            yield connection

    @contextmanager
    def _of_its_revision(self) -> Iterator[None]:
        """Where the database refuses a statement since others have changed the tables, that is what is reported."""
        try:
            yield
        except StoreError as error:
            if isinstance(error, RolledBackError) or not isinstance(error.__cause__, DBAPIError):
                raise
            changed = None
            with suppress(StoreError), reading(self._engine, self.name) as connection:
                changed = revision.changed(connection, self.name, self._opened)
            raise changed or error from error.__cause__
