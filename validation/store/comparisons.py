"""Comparisons of two versions or settings of an engine, as they were told."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, insert, select

from validation.records.stored import StoredComparison
from validation.store import models


def add(
    connection: Connection,
    *,
    command: str,
    machine: str,
    names: tuple[str, str],
    packages: Mapping[str, tuple[str, str]],
    lines: Sequence[str],
) -> int:
    """The comparison's number."""
    signs = [json.loads(line)["sign"] for line in lines]
    row = {
        "made": datetime.now(UTC),
        "command": command,
        "machine": machine,
        "old": names[0],
        "new": names[1],
        "packages": json.dumps({name: list(pair) for name, pair in packages.items()}),
        "counts": json.dumps({sign: signs.count(sign) for sign in dict.fromkeys(signs)}),
        "lines": "\n".join(lines),
    }
    return int(connection.execute(insert(models.Comparison).values(row).returning(models.Comparison.id)).scalar_one())


def comparisons(connection: Connection, *where: Any) -> list[StoredComparison]:
    """Newest first, without what they say of each scenario."""
    columns = [column for column in models.Comparison.__table__.columns if column.name != "lines"]
    rows = connection.execute(select(*columns).where(*where).order_by(models.Comparison.id.desc()))
    return [
        StoredComparison(
            number=row.id,
            when=row.made,
            command=row.command,
            machine=row.machine,
            names=(row.old, row.new),
            packages={name: (pair[0], pair[1]) for name, pair in json.loads(row.packages).items()},
            counts=json.loads(row.counts),
        )
        for row in rows
    ]


def lines(connection: Connection, number: int) -> list[str] | None:
    """One JSON object a scenario, as `upright compare --json` prints them; None where there is no such comparison."""
    found = connection.execute(select(models.Comparison.lines).where(models.Comparison.id == number)).scalar()
    return None if found is None else found.splitlines()
