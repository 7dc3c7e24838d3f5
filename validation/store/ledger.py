"""Entries of the ledger, each with the cases that it was said of."""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any, Unpack

from sqlalchemy import Connection, func, insert, or_, select
from sqlalchemy.orm import aliased

from validation.review.ledger import Act, Entry, Statement, check_entry, undone
from validation.store import models
from validation.store.connection import Database
from validation.store.errors import StoreError

SAME = ("act", "who", "reason", "scope", "branch", "until", "owner", "link", "refers_to")
ACCEPTED = (
    select(models.EntryCase.__table__, models.Case.identity_key, models.Entry.branch, models.Entry.made)
    .add_columns(models.Entry.who, models.Entry.reason, models.Entry.scope, models.Entry.until)
    .join(models.Entry, models.Entry.id == models.EntryCase.entry_id)
    .join(models.Case, models.Case.id == models.EntryCase.case_id)
    .where(models.Entry.act == "accept")
)
"""Baselines, those in effect and those that were: an acceptance of one case each, with the entry's words."""


class Ledger(Database):
    def entries(self, limit: int | None = None) -> list[Entry]:
        """The ledger, newest first."""
        with self._reading() as connection:
            return entries(connection, limit=limit)

    def check_seen(self, cases: Collection[int], seen: int) -> None:
        """Raises StoreError, which says by whom, where an entry after the one `seen` is about any of these cases."""
        with self._reading() as connection:
            check_seen(connection, cases, seen)

    def undo(self, entry: int, *, who: str, reason: str) -> int:
        """Take back an entry, an acceptance too: what was the baseline before is it again. The undo's number."""
        with self._writing(once=True) as connection:
            found = entries(connection, models.Entry.id == entry)
            if not found:
                known = ", ".join(str(one.number) for one in reversed(entries(connection, limit=8))) or "none yet"
                raise StoreError(f"entry {entry}: not in the ledger; it has: {known}")
            (taken,) = found
            if taken.undone_by is not None:
                raise StoreError(f"entry {entry}: undone already by entry {taken.undone_by}; undo that to have it back")
            scope = f"entry {entry} ({taken.act}): {taken.scope}"
            return add(connection, "undo", taken.cases, who=who, reason=reason, scope=scope, refers_to=entry)


def add(
    connection: Connection,
    act: Act,
    cases: Collection[int],
    *,
    refers_to: int | None = None,
    **statement: Unpack[Statement],
) -> int:
    """The entry's number. Raises LedgerError, and StoreError where there is no such case, or the cases are of
    several branches."""
    now = datetime.now(UTC)
    check_entry(act, statement, now)
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
    row = {"owner": "", "link": "", **statement, "made": now, "act": act, "branch": branches[0], "refers_to": refers_to}
    number = int(connection.execute(insert(models.Entry).values(row).returning(models.Entry.id)).scalar_one())
    connection.execute(insert(models.EntryCase), [{"entry_id": number, "case_id": case} for case in sorted(set(cases))])
    return number


def check_seen(connection: Connection, cases: Collection[int], seen: int | None) -> None:
    """Raises StoreError, which says by whom, where an entry after the one `seen` is about a result of one of these
    cases on their branch. None: whatever was decided is known."""
    if seen is None:
        return
    asked, run = aliased(models.Case), aliased(models.Run)
    mine = select(asked.identity_key).where(asked.id.in_(cases))
    branches = select(run.branch).join(asked, asked.run_id == run.id).where(asked.id.in_(cases))
    query = (
        select(models.Entry.id, models.Entry.act, models.Entry.who, models.Entry.reason)
        .add_columns(models.Case.label, models.Case.engine_label)
        .join(models.EntryCase, models.EntryCase.entry_id == models.Entry.id)
        .join(models.Case, models.Case.id == models.EntryCase.case_id)
        .where(models.Entry.id > seen, models.Entry.branch.in_(branches), models.Case.identity_key.in_(mine))
        .order_by(models.Entry.id.desc(), models.Case.id)
        .limit(1)
    )
    row = connection.execute(query).first()
    if row is not None:
        raise StoreError(
            f"{row.label} on {row.engine_label} was decided on meanwhile by {row.who} (entry {row.id}, {row.act}: "
            f"{row.reason}); nothing was written; read what is open now, and decide again"
        )


def entries(connection: Connection, *where: Any, limit: int | None = None) -> list[Entry]:
    """Newest first."""
    carried = aliased(models.Entry)
    known = [getattr(models.Entry, name) for name in SAME]
    rows = connection.execute(
        select(models.Entry.id.label("number"), models.Entry.made.label("when"), *known)
        .add_columns(func.coalesce(carried.branch, "").label("carried_from"))
        .outerjoin(carried, (carried.id == models.Entry.refers_to) & (models.Entry.act == "accept"))
        .where(*where)
        .order_by(models.Entry.id.desc())
        .limit(limit)
    ).all()
    cases: dict[int, list[int]] = {}
    of = models.EntryCase.entry_id.in_([row.number for row in rows])
    for one in connection.execute(select(models.EntryCase.__table__).where(of).order_by(models.EntryCase.case_id)):
        cases.setdefault(one.entry_id, []).append(one.case_id)
    taken_back = undone_entries(connection)
    return [
        Entry(**row._asdict(), cases=tuple(cases.get(row.number, ())), undone_by=taken_back.get(row.number))
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
