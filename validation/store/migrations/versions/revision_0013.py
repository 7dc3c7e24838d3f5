"""A group of verdicts is a row with its members, no longer worked out at each look from what every verdict says.

Verdicts repeat no more what stands in their changes.
"""

import hashlib
import json
import math
from typing import Any

import sqlalchemy as sa
from alembic import op

from validation.store.set_aside import remove_tables, restore_tables

revision = "0013"
down_revision = "0012"

WORST = ("metric", "old", "new")  # of the first of the changes, which say so
EVERY_GROUP = """
    SELECT branch, since_run, word, engine_label, MAX(good_run) AS good_run FROM verdicts
    JOIN cases ON cases.id = verdicts.case_id JOIN runs ON runs.id = cases.run_id
    WHERE since_run IS NOT NULL AND NOT EXISTS (SELECT 1 FROM group_members m WHERE m.case_id = verdicts.case_id)
    GROUP BY branch, since_run, word, engine_label ORDER BY since_run
"""
MEMBERS = """
    INSERT INTO group_members (case_id, group_id)
    SELECT verdicts.case_id, :id FROM verdicts JOIN cases ON cases.id = verdicts.case_id
    JOIN runs ON runs.id = cases.run_id
    WHERE since_run = :since_run AND word = :word AND engine_label = :engine_label AND branch = :branch
    AND NOT EXISTS (SELECT 1 FROM group_members m WHERE m.case_id = verdicts.case_id)
"""
JUDGED_AGAIN = """
    DELETE FROM group_members WHERE NOT EXISTS (
        SELECT 1 FROM verdicts v JOIN verdict_groups g ON g.id = group_members.group_id
        WHERE v.case_id = group_members.case_id AND v.word = g.word AND v.since_run = g.since_run
    )
"""
NOW_EMPTY = "DELETE FROM verdict_groups WHERE id NOT IN (SELECT group_id FROM group_members)"
SINCE = """
    UPDATE verdicts SET since_run = g.since_run, good_run = g.good_run
    FROM group_members m JOIN verdict_groups g ON g.id = m.group_id WHERE m.case_id = verdicts.case_id
"""


def upgrade() -> None:
    if restore_tables(revision, "group_members", "verdict_groups"):
        op.execute(JUDGED_AGAIN)  # by an older Upright
    else:
        _create_tables()
    connection = op.get_bind()
    runs = connection.execute(sa.text('SELECT id, dirty, "commit" FROM runs'))
    commits = {row.id: row.commit if row.commit and not row.dirty else f"run {row.id}" for row in runs}
    numbers = {row.key: row.id for row in connection.execute(sa.text("SELECT id, key FROM verdict_groups"))}
    parts = [dict(row) for row in connection.execute(sa.text(EVERY_GROUP)).mappings()]
    for part in parts:
        cause = [part["branch"], commits[part["since_run"]], part["engine_label"], part["word"]]
        part["key"] = hashlib.sha256(json.dumps(cause).encode()).hexdigest()[:12]
        if part["key"] not in numbers:  # of one commit there may be several runs
            columns = "key, branch, engine_label, word, since_run, good_run"
            values = ", ".join(f":{name}" for name in columns.split(", "))
            insert = sa.text(f"INSERT INTO verdict_groups ({columns}) VALUES ({values}) RETURNING id")
            numbers[part["key"]] = connection.execute(insert, part).scalar_one()
        part["id"] = numbers[part["key"]]
    if parts:
        later = "good_run = :good_run WHERE id = :id AND COALESCE(good_run, 0) < :good_run"
        connection.execute(sa.text(f"UPDATE verdict_groups SET {later}"), parts)
        connection.execute(sa.text(MEMBERS), parts)
    op.execute(NOW_EMPTY)
    op.drop_index("ix_verdicts_since_run", "verdicts")
    for name in ("since_run", "good_run", *WORST):
        op.drop_column("verdicts", name)


def downgrade() -> None:
    columns = [sa.Column(name, sa.Double) for name in ("old", "new")]
    columns += [sa.Column(name, sa.Integer) for name in ("since_run", "good_run")]
    for column in (sa.Column("metric", sa.Text, nullable=False, server_default=""), *columns):
        op.add_column("verdicts", column)
    op.create_index("ix_verdicts_since_run", "verdicts", ["since_run"])
    op.execute(SINCE)
    connection = op.get_bind()
    changed = connection.execute(sa.text("SELECT case_id, changes FROM verdicts WHERE changes <> '[]'"))
    worst = [{"case": row.case_id} | _worst(json.loads(row.changes)[0]) for row in changed]
    if worst:
        values = ", ".join(f"{name} = :{name}" for name in WORST)
        connection.execute(sa.text(f"UPDATE verdicts SET {values} WHERE case_id = :case"), worst)
    remove_tables(revision, "group_members", "verdict_groups")


def _worst(change: dict[str, Any]) -> dict[str, Any]:
    """NaN is NULL; JSON has it, and infinity, as text."""
    values = {name: float(change[name]) for name in ("old", "new")}
    return {"metric": change["metric"]} | {k: None if math.isnan(value) else value for k, value in values.items()}


def _create_tables() -> None:
    op.create_table(
        "verdict_groups",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("branch", sa.Text, nullable=False),
        sa.Column("engine_label", sa.Text, nullable=False),
        sa.Column("word", sa.Text, nullable=False),
        sa.Column("since_run", sa.Integer, sa.ForeignKey("runs.id"), nullable=False),
        sa.Column("good_run", sa.Integer, sa.ForeignKey("runs.id")),
        sa.UniqueConstraint("key", name="uq_verdict_groups_key"),
    )
    op.create_index("ix_verdict_groups_branch", "verdict_groups", ["branch"])
    op.create_table(
        "group_members",
        sa.Column("case_id", sa.Integer, sa.ForeignKey("cases.id"), primary_key=True),
        sa.Column("group_id", sa.Integer, sa.ForeignKey("verdict_groups.id"), nullable=False),
    )
    op.create_index("ix_group_members_group_id", "group_members", ["group_id"])
