"""Entries of the ledger, each with the cases that it was said of."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, insert, or_, select
from sqlalchemy.orm import aliased

from validation.review.ledger import Act, Entry, check_entry, undone
from validation.store import models
from validation.store.errors import StoreError

ACCEPTED = (
    select(models.EntryCase.__table__, models.Case.identity_key, models.Entry.branch, models.Entry.made)
    .add_columns(models.Entry.who, models.Entry.reason, models.Entry.scope, models.Entry.until)
    .join(models.Entry, models.Entry.id == models.EntryCase.entry_id)
    .join(models.Case, models.Case.id == models.EntryCase.case_id)
    .where(models.Entry.act == "accept")
)
"""Baselines, those in effect and those that were: an acceptance of one case each, with the entry's words."""


def add(
    connection: Connection,
    act: Act,
    cases: Collection[int],
    *,
    who: str,
    reason: str,
    scope: str,
    until: datetime | None = None,
    owner: str = "",
    link: str = "",
    refers_to: int | None = None,
) -> int:
    """The entry's number. Raises LedgerError, and StoreError where there is no such case, or the cases are of
    several branches."""
    now = datetime.now(UTC)
    check_entry(act, who=who, reason=reason, until=until, owner=owner, link=link, now=now)
    if not cases:
        raise StoreError(f"cases: none are given to {act}; nothing was written")
    query = select(models.Case.id, models.Run.branch).join(models.Run, models.Run.id == models.Case.run_id)
    found = {row.id: row.branch for row in connection.execute(query.where(models.Case.id.in_(cases)))}
    alien = sorted(set(cases) - set(found))
    if alien:
        raise StoreError(f"case {alien[0]}: not in this database; nothing was written")
    branches = sorted(set(found.values()))
    if len(branches) > 1:
        raise StoreError(f"cases: of the branches {', '.join(branches)}; say it of one at a time")
    row = {
        "made": now,
        "act": act,
        "who": who,
        "reason": reason,
        "scope": scope,
        "branch": branches[0],
        "until": until,
        "owner": owner,
        "link": link,
        "refers_to": refers_to,
    }
    number = int(connection.execute(insert(models.Entry).values(row).returning(models.Entry.id)).scalar_one())
    connection.execute(insert(models.EntryCase), [{"entry_id": number, "case_id": case} for case in sorted(set(cases))])
    return number


def undo(connection: Connection, number: int, *, who: str, reason: str) -> int:
    """The number of the entry that takes back the one with `number`."""
    found = entries(connection, models.Entry.id == number)
    if not found:
        known = connection.execute(select(models.Entry.id).order_by(models.Entry.id.desc()).limit(8)).scalars().all()
        listed = ", ".join(str(n) for n in sorted(known)) or "none yet"
        raise StoreError(f"entry {number}: not in the ledger; it has: {listed}")
    entry = found[0]
    if entry.undone_by is not None:
        raise StoreError(f"entry {number}: undone already by entry {entry.undone_by}; undo that to have it back")
    scope = f"entry {number} ({entry.act}): {entry.scope}"
    return add(connection, "undo", entry.cases, who=who, reason=reason, scope=scope, refers_to=number)


def entries(connection: Connection, *where: Any, limit: int | None = None) -> list[Entry]:
    """Newest first."""
    carried = aliased(models.Entry)
    rows = connection.execute(
        select(models.Entry.__table__, carried.branch.label("carried_from"))
        .outerjoin(carried, (carried.id == models.Entry.refers_to) & (models.Entry.act == "accept"))
        .where(*where)
        .order_by(models.Entry.id.desc())
        .limit(limit)
    ).all()
    cases: dict[int, list[int]] = {}
    of = models.EntryCase.entry_id.in_([row.id for row in rows])
    for one in connection.execute(select(models.EntryCase.__table__).where(of).order_by(models.EntryCase.case_id)):
        cases.setdefault(one.entry_id, []).append(one.case_id)
    taken_back = undone_entries(connection)
    return [
        Entry(
            number=row.id,
            act=row.act,
            when=row.made,
            who=row.who,
            reason=row.reason,
            scope=row.scope,
            branch=row.branch,
            until=row.until,
            owner=row.owner,
            link=row.link,
            refers_to=row.refers_to,
            carried_from=row.carried_from or "",
            cases=tuple(cases.get(row.id, ())),
            undone_by=taken_back.get(row.id),
        )
        for row in rows
    ]


def undone_entries(connection: Connection) -> dict[int, int]:
    """Entry -> the entry that took it back and holds."""
    query = select(models.Entry.id, models.Entry.refers_to).where(models.Entry.act == "undo")
    return undone((row.id, row.refers_to) for row in connection.execute(query))


def expired_baselines(connection: Connection) -> set[int]:
    """Numbers of those that count no more: their day has come, or they were taken back."""
    taken_back = undone_entries(connection)
    over = models.Entry.until <= datetime.now(UTC)
    query = ACCEPTED.where(or_(over, models.Entry.id.in_(taken_back))).with_only_columns(models.EntryCase.id)
    return set(connection.execute(query).scalars())
