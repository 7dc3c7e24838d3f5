"""Which commits come before which, and so which acceptances count where.

Stored are the commits of runs and merge bases, each with the nearest stored ones before it: a few per run, however long
the project's history is.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from validation.review.lineage import Commits, History, main_branches
from validation.store import models
from validation.store.connection import insert_new
from validation.store.stored_json import names_of

Commit, Run = models.Commit, models.Run
DETACHED = "HEAD"  # what git calls the branch of a bare commit: shared by all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseRevision:
    """From where it is asked what is accepted."""

    branch: str
    default: str = ""  # branch of the repository, as `main_branches` takes it
    own: Collection[str] | None = None  # commits of this life of the branch; None: by its name alone
    base: str = ""  # the branch that the change is for
    before: Collection[str] | None = None  # commits of the base that count; None: no base
    generations: Mapping[str, int] = field(default_factory=dict)

    @property
    def branches(self) -> list[str]:
        """Those whose acceptances may count, the nearest first."""
        bases = () if self.before is None else (self.base,)
        return list(dict.fromkeys((self.branch, *bases, *main_branches(self.default))))

    def of_this_generation(self, commit: str) -> bool:
        return self.own is None or not commit or commit in self.own

    def counts(self, branch: str, commit: str, *, dirty: bool) -> bool:
        """Whether an acceptance does that was made on `branch`, of a result of `commit`.

        Edits that were not committed are not what stands at the merge base.
        """
        if self.before is not None and (branch != self.branch or branch == self.base):
            return commit in self.before and not dirty
        return branch != self.branch or self.of_this_generation(commit)

    def newest(self, rows: Iterable[Any]) -> dict[str, Any]:
        """Of acceptances of one branch, by their ids: identity -> the one in effect.

        The latest; but what is accepted late, of a commit that comes before one accepted already, replaces nothing.
        A commit of which nothing is known counts as the deepest so far.
        """
        found: dict[str, Any] = {}
        deepest: dict[str, int] = {}
        for row in sorted(rows, key=lambda row: int(row.id)):
            before = deepest.get(row.identity_key, 0)
            depth = self.generations.get(row.commit, before)
            if depth >= before:
                found[row.identity_key], deepest[row.identity_key] = row, depth
        return found


def base_revision(connection: Connection, run: int) -> BaseRevision:
    """That of a run, as it was begun."""
    row = connection.execute(
        select(Run.branch, Run.commit, Run.base, Run.merge_base, Run.default_branch).where(Run.id == run)
    ).one()
    stored = _commits(connection)
    before = None
    if row.base:
        before = stored.up_to(row.merge_base) or frozenset((row.merge_base,))
    own: frozenset[str] | None = None
    if row.branch not in main_branches(row.default_branch):
        own = stored.generation(row.commit, before or frozenset())
        if own is None and row.branch == DETACHED:
            own = frozenset((row.commit,))
    return BaseRevision(
        branch=row.branch,
        default=row.default_branch,
        own=own,
        base=row.base,
        before=before,
        generations=stored.generations,
    )


def generations(connection: Connection) -> dict[str, int]:
    """Of the commits that are stored."""
    return _commits(connection).generations


def others(connection: Connection, run: int, seen_from: BaseRevision) -> list[int]:
    """Earlier runs of a branch of the same name that was another one: deleted and made anew, or rebased."""
    if seen_from.own is None:
        return []
    rows = connection.execute(select(Run.id, Run.commit).where(Run.branch == seen_from.branch, Run.id < run))
    return [row.id for row in rows if not seen_from.of_this_generation(row.commit)]


def comes_after(connection: Connection, run: int, other: int) -> bool:
    """Whether a run is of the commit of the other, or of one after it."""
    rows = connection.execute(select(Run.id, Run.commit).where(Run.id.in_((run, other))))
    commits = {row.id: row.commit for row in rows}
    return comes_before(connection, commits[other], commits[run])


def comes_before(connection: Connection, commit: str, other: str) -> bool:
    """Whether it is that commit or one before it; False where nothing is known of it."""
    return commit in _commits(connection).up_to(other)


def ranks(connection: Connection) -> dict[int, int]:
    """Of every run, its place in the order of commits."""
    return {row.id: row.rank for row in connection.execute(select(Run.id, Run.rank))}


def latest_first(ranks: Mapping[int, int], case: Any) -> list[Any]:
    """What cases are ordered by, joined with their runs. Where no run came late the cases' numbers tell: the index has
    them so, and no more are read than looked at."""
    late = any(run != rank for run, rank in ranks.items())
    return [Run.rank.desc(), case.id.desc()] if late else [case.id.desc()]


def backfilled(connection: Connection, where: Sequence[Any]) -> list[int]:
    """Of the runs that `where` is of, those that were made after one of a later commit."""
    found, latest = [], 0
    for row in connection.execute(select(Run.id, Run.rank).where(*where).order_by(Run.id)):
        if row.rank < latest:
            found.append(row.id)
        latest = max(latest, row.rank)
    return found


def put_in_order(connection: Connection) -> None:
    """Store the order of commits with the runs. A new run changes it: it may be of an older commit, and its history
    may tell more of the others."""
    query = select(Run.id, Run.rank, Run.commit, Run.branch, Run.base, Run.default_branch).order_by(Run.id)
    ordered = _commits(connection).in_order(connection.execute(query).all())
    moved = [{"run": row.id, "to": rank} for rank, row in enumerate(ordered, 1) if row.rank != rank]
    if moved:
        connection.execute(update(Run).where(Run.id == bindparam("run")).values(rank=bindparam("to")), moved)


def _commits(connection: Connection) -> Commits:
    rows = connection.execute(select(Commit.hash, Commit.generation, Commit.parents)).all()
    for row in rows:
        names_of(row.parents)
    return Commits(rows)


def save(connection: Connection, history: History, more: Collection[str] = ()) -> None:
    """The commits of runs in this history, its head and `more`. What comes between those that are stored already is put
    there."""
    runs = set(connection.execute(select(Run.commit).distinct()).scalars())
    stored = {row.hash: row.parents for row in connection.execute(select(Commit.hash, Commit.parents))}
    wanted = {history.head, *history.parents[history.head], *more, *runs, *stored} & history.parents.keys()
    if wanted <= stored.keys():
        return
    generations = history.generations()
    for commit, parents in history.nearest(wanted).items():
        text = json.dumps(parents)
        if commit not in stored:
            insert_new(connection, Commit, [{"hash": commit, "generation": generations[commit], "parents": text}])
        elif stored[commit] != text:
            connection.execute(update(Commit).where(Commit.hash == commit).values(parents=text))
