"""Which commits come before which, and so which acceptances count where.

Kept are the commits of runs and merge bases, each with the nearest kept ones before it: a few per run, however long the
project's history is.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select, update

from validation.review.lineage import History, main_branches
from validation.store import models
from validation.store.connection import insert_new

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
    kept = _Kept(connection)
    before = None
    if row.base:
        before = kept.up_to(row.merge_base) or frozenset((row.merge_base,))
    own: frozenset[str] | None = None
    if row.branch not in main_branches(row.default_branch):
        own = kept.generation(row.commit, before or frozenset())
        if own is None and row.branch == DETACHED:
            own = frozenset((row.commit,))
    return BaseRevision(
        branch=row.branch,
        default=row.default_branch,
        own=own,
        base=row.base,
        before=before,
        generations=kept.generations,
    )


def generations(connection: Connection) -> dict[str, int]:
    """Of the commits that are kept."""
    return _Kept(connection).generations


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
    return commit in _Kept(connection).up_to(other)


def late(connection: Connection, seen_from: BaseRevision) -> dict[int, float]:
    """Runs of a commit that comes before that of an earlier run: done again, or ended late. With the place of each
    among the numbers of the others, which are in order. On main and the base, which have one life, the generation
    tells; where nothing is known of a commit, numbers do."""
    branches = [seen_from.branch] if seen_from.before is None else seen_from.branches
    query = select(Run.id, Run.commit, Run.branch).where(Run.branch.in_(branches)).order_by(Run.id)
    kept, deepest = None, 0
    line: list[tuple[Any, int]] = []  # runs, with the generations of their commits
    found: set[int] = set()
    for run in connection.execute(query).all():
        depth = seen_from.generations.get(run.commit, deepest)
        at = len(line)
        if depth < deepest:
            kept = kept or _Kept(connection)
            after = kept.after(run.commit)
            one_generation = seen_from.own is None or run.branch != seen_from.branch
            at = next(
                (
                    i
                    for i, (other, deep) in enumerate(line)
                    if other.commit in after or (one_generation and other.branch == run.branch and deep > depth)
                ),
                at,
            )
        if at < len(line):
            found.add(run.id)
        line.insert(at, (run, depth))
        deepest = max(deepest, depth)
    places: dict[int, float] = {}
    anchor, behind = 0, 0
    for run, _ in reversed(line):
        if run.id in found:
            behind += 1
            places[run.id] = anchor - behind / (len(found) + 1)
        else:
            anchor, behind = run.id, 0
    return places


class _Kept:
    def __init__(self, connection: Connection) -> None:
        rows = connection.execute(select(Commit.hash, Commit.generation, Commit.parents)).all()
        self.generations: dict[str, int] = {row.hash: row.generation for row in rows}
        self._parents: dict[str, Sequence[str]] = {row.hash: json.loads(row.parents) for row in rows}

    def up_to(self, commit: str) -> frozenset[str]:
        """The commit and those before it; none where nothing is known of it."""
        found: set[str] = set()
        waiting = [commit]
        while waiting:
            one = waiting.pop()
            if one in self._parents and one not in found:
                found.add(one)
                waiting += self._parents[one]
        return frozenset(found)

    def after(self, commit: str) -> set[str]:
        """Those that come after it."""
        children: dict[str, list[str]] = {}
        for one, parents in self._parents.items():
            for parent in parents:
                children.setdefault(parent, []).append(one)
        found: set[str] = set()
        waiting = [commit]
        while waiting:
            more = [child for child in children.get(waiting.pop(), ()) if child not in found]
            found.update(more)
            waiting += more
        return found

    def generation(self, commit: str, base: Collection[str]) -> frozenset[str] | None:
        """Those before it, and the merges that a CI server made of one of them with the base, to try it: no commit
        comes after these. None where nothing is known of it."""
        before = self.up_to(commit)
        merges = {
            one
            for one, parents in self._parents.items()
            if len(parents) > 1 and parents[-1] in before and parents[-1] not in base
        }
        return before | merges if before else None


def keep(connection: Connection, history: History, more: Collection[str] = ()) -> None:
    """The commits of runs in this history, its head and `more`. What comes between those that are kept already is put
    there."""
    runs = set(connection.execute(select(Run.commit).distinct()).scalars())
    kept = {row.hash: row.parents for row in connection.execute(select(Commit.hash, Commit.parents))}
    wanted = {history.head, *history.parents[history.head], *more, *runs, *kept} & history.parents.keys()
    if wanted <= kept.keys():
        return
    generations = history.generations()
    for commit, parents in history.nearest(wanted).items():
        text = json.dumps(parents)
        if commit not in kept:
            insert_new(connection, Commit, {"hash": commit, "generation": generations[commit], "parents": text})
        elif kept[commit] != text:
            connection.execute(update(Commit).where(Commit.hash == commit).values(parents=text))
