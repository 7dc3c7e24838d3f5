"""Comparisons of two versions or settings of an engine, as they were described."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from sqlalchemy import insert, select

from scenarios.scene import Scene
from validation.records.case import Result
from validation.records.stored import StoredComparison
from validation.store import models
from validation.store.connection import Database
from validation.store.errors import StoreError
from validation.store.models import record_of
from validation.store.motions import packed_motion, save_motions
from validation.store.runs import save_scenes
from validation.store.stored_json import counts_of, lines_of, pairs_of

NOT_RUN = "not run"  # among the counts of one that was stopped


class Comparisons(Database):
    def save_motions(self, scenes: Iterable[Scene], results: Sequence[Result]) -> list[str | None]:
        """What each of the results' motions is stored under; None where there is none."""
        packed = [packed_motion(result) for result in results]
        with self._writing() as connection:
            save_scenes(connection, scenes)
            save_motions(connection, filter(None, packed))
        return [one["key"] if one else None for one in packed]

    def add_comparison(
        self,
        *,
        command: str,
        machine: str,
        names: tuple[str, str],
        packages: Mapping[str, tuple[str, str]],
        lines: Sequence[str],
        left: int = 0,
    ) -> int:
        """The comparison's number. `lines` are those of `validation.report.comparison.comparison_line`; `left` is how
        many there would be more, had it not been stopped."""
        signs = [json.loads(line)["sign"] for line in lines]
        row = {
            "made": datetime.now(UTC),
            "command": command,
            "machine": machine,
            "old": names[0],
            "new": names[1],
            "packages": json.dumps({name: list(pair) for name, pair in packages.items()}),
            "counts": json.dumps(
                {sign: signs.count(sign) for sign in dict.fromkeys(signs)} | ({NOT_RUN: left} if left else {})
            ),
            "lines": "\n".join(lines),
        }
        with self._writing(once=True) as connection:
            query = insert(models.Comparison).values(row).returning(models.Comparison.id)
            return int(connection.execute(query).scalar_one())

    def comparisons(self) -> list[StoredComparison]:
        """Newest first, without what they say of each scenario."""
        columns = [column for column in models.Comparison.__table__.columns if column.name != "lines"]
        with self._reading() as connection:
            rows = connection.execute(select(*columns).order_by(models.Comparison.id.desc())).all()
            return [
                record_of(
                    StoredComparison,
                    row,
                    number=row.id,
                    when=row.made,
                    names=(row.old, row.new),
                    packages=pairs_of(row.packages),
                    counts=counts_of(row.counts),
                )
                for row in rows
            ]

    def comparison_lines(self, number: int) -> list[str]:
        """Of each scenario what it says, as a JSON object. Raises StoreError where there is no such comparison."""
        with self._reading() as connection:
            found = connection.execute(select(models.Comparison.lines).where(models.Comparison.id == number)).scalar()
            if found is not None:
                return lines_of(found)
        known_numbers = ", ".join(str(one.number) for one in self.comparisons()[:8]) or "none yet"
        raise StoreError(f"comparison {number}: not in this database; it has: {known_numbers}")
