"""Writes every row of a database as JSON, table by table; of long texts and of blobs the SHA-256: dump.py DB OUT."""

import gzip
import hashlib
import json
import sqlite3
import sys
from pathlib import Path

LONG = 400  # characters


def plain(value: object) -> object:
    data = value if isinstance(value, bytes) else value.encode() if isinstance(value, str) else b""
    return f"sha256 {hashlib.sha256(data).hexdigest()}" if isinstance(value, bytes) or len(data) > LONG else value


def rows_of(database: Path) -> dict[str, dict[str, list[object]]]:
    """Table -> its columns, and its rows in the order of the primary key."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        names = [
            name for (name,) in connection.execute("select name from sqlite_master where type = 'table' order by 1")
        ]
        found = {}
        for name in names:
            info = connection.execute(f"pragma table_info({name})").fetchall()
            keys = [f'"{row[1]}"' for row in sorted(info, key=lambda row: row[5]) if row[5]]
            rows = connection.execute(f"select * from {name} order by {', '.join(keys) or 1}")
            found[name] = {"columns": [row[1] for row in info], "rows": [[plain(v) for v in row] for row in rows]}
    return found


if __name__ == "__main__":
    text = json.dumps(rows_of(Path(sys.argv[1])), indent=0)
    Path(sys.argv[2]).write_bytes(gzip.compress(text.encode(), 9, mtime=0))
