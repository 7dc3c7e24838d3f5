"""The file of a SQLite database: what cannot be one, and what becomes of it when somebody deletes it meanwhile."""

import errno
import os
import sqlite3
import stat
import tempfile
from contextlib import closing, suppress
from itertools import chain, count
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy.engine import URL

from validation.store.errors import LostFileError, StoreError

ELSEWHERE = "nothing was run. Without --db results go to ./upright.db"


def file_of(url: URL) -> Path:
    """Raises StoreError, in place of SQLite's riddles, where it is none that can be a database."""
    if url.database in (None, "", ":memory:") or "uri" in url.query or url.query.get("mode") == "memory":
        where = url.database or "sqlite://"
        raise StoreError(f"{where}: in memory, where it ends with the command; give the path of a file")
    path = Path(str(url.database))
    try:
        _check(path)
    except OSError as error:
        raise StoreError(f"{str(path)[:200]}: cannot be read ({error.strerror}); {ELSEWHERE}") from None
    return path


def _check(path: Path) -> None:
    if path.is_dir():
        raise StoreError(f"{path}: a folder, not a database; give the path of a file in it")
    if not path.parent.is_dir():
        raise StoreError(f"{path}: there is no folder {str(path.parent)!r}; make it, or give another path")
    if path.exists():
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe waits for who writes to it
            raise StoreError(f"{path}: a device or a pipe, not a file; give the path of a file")
        if not os.access(path, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        if _is_something_else(path):
            raise StoreError(f"{path}: not a SQLite database; give another path")
    elif not os.access(path.parent, os.W_OK):
        raise read_only(path)


def _is_something_else(path: Path) -> bool:
    """By SQLite's own look at it: whoever opens the file and closes it again ends all locks that this process has on
    it, and another process, which takes itself for the last one, removes the journal that this one goes on writing to.
    """
    try:
        with closing(sqlite3.connect(read_only_url(path), uri=True, timeout=0.0)) as asked:
            asked.execute("PRAGMA schema_version")
    except sqlite3.DatabaseError as error:  # what else is wrong with it is found when it is used
        return error.sqlite_errorcode == sqlite3.SQLITE_NOTADB
    return False


def read_only(path: Path) -> StoreError:
    return StoreError(f"{path}: cannot be written (read-only); {ELSEWHERE}")


def is_read_only(path: Path) -> bool:
    """SQLite writes its journal beside the file, so the folder counts too."""
    return not all(os.access(one, os.W_OK) for one in (path, path.parent))


def read_only_url(path: Path) -> str:
    """Of a file that is there. Nothing may be made beside it, so without a journal it is read as it is."""
    still = "" if path.with_name(f"{path.name}-wal").exists() else "&immutable=1"
    return f"file:{quote(str(path.absolute()))}?mode=ro{still}"


class OpenFile:
    """Whether the path still leads to the file that was opened: one that is deleted takes what is written, and is gone
    when the last process closes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.opened: tuple[int, int] | None = None

    def is_opened(self, connection: sqlite3.Connection) -> None:
        """By a connection of ours, the first or another one."""
        self.opened = self.opened or self._there()
        self.must_be_there(connection)

    def must_be_there(self, connection: sqlite3.Connection) -> None:
        """Raises LostFileError where it is not, after all that is stored was saved to another file, if that can be."""
        if self._there() == self.opened:
            return
        for target in free_names(self.path.with_name(f"{self.path.name}.saved"), Path(tempfile.gettempdir())):
            with suppress(sqlite3.Error, OSError), closing(sqlite3.connect(target)) as saved:
                connection.backup(saved)
                raise LostFileError(
                    f"{self.path}: deleted or moved while it was written to; what was stored is in {target}",
                    saved=str(target),
                )
        raise LostFileError(f"{self.path}: deleted or moved while it was written to; what was stored is lost")

    def _there(self) -> tuple[int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino


def free_names(wanted: Path, *other_folders: Path) -> list[Path]:
    """The path, or one with a number behind it, that no file has; likewise in the other folders."""
    names = [wanted, *(folder / wanted.name for folder in other_folders)]
    numbered = (chain([one], (one.with_name(f"{one.name}-{number}") for number in count(2))) for one in names)
    return [next(name for name in some if not name.exists()) for some in numbered]


def opened(connection: Any) -> sqlite3.Connection:
    """Behind one of SQLAlchemy's."""
    found: sqlite3.Connection = connection.connection.dbapi_connection
    return found
