"""A group of verdicts is a row with its members, no longer worked out at each look from what every verdict says.

Verdicts repeat no more what stands in their changes.
"""

import hashlib
import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

WORST = ("metric", "old", "new")  # of the first of the changes, which say so
EVERY_GROUP = """
    SELECT branch, since_run, word, engine_label, MAX(good_run) AS good_run FROM verdicts
    JOIN cases ON cases.id = verdicts.case_id JOIN runs ON runs.id = cases.run_id
    WHERE since_run IS NOT NULL GROUP BY branch, since_run, word, engine_label ORDER BY since_run
"""
MEMBERS = """
    INSERT INTO group_members (case_id, group_id)
    SELECT case_id, :id FROM verdicts JOIN cases ON cases.id = verdicts.case_id JOIN runs ON runs.id = cases.run_id
    WHERE since_run = :since_run AND word = :word AND engine_label = :engine_label AND branch = :branch
"""


def upgrade() -> None:
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
    connection = op.get_bind()
    runs = connection.execute(sa.text('SELECT id, dirty, "commit" FROM runs'))
    commits = {row.id: row.commit if row.commit and not row.dirty else f"run {row.id}" for row in runs}
    groups: dict[str, dict[str, Any]] = {}  # of one commit there may be several runs
    parts = []
    for row in connection.execute(sa.text(EVERY_GROUP)).mappings():
        cause = [row["branch"], commits[row["since_run"]], row["engine_label"], row["word"]]
        key = hashlib.sha256(json.dumps(cause).encode()).hexdigest()[:12]
        group = groups.setdefault(key, {**row, "key": key, "id": len(groups) + 1})
        group["good_run"] = max(group["good_run"] or 0, row["good_run"] or 0) or None
        parts.append({**row, "id": group["id"]})
    if groups:
        columns = "key, branch, engine_label, word, since_run, good_run"
        values = ", ".join(f":{name}" for name in columns.split(", "))
        connection.execute(sa.text(f"INSERT INTO verdict_groups ({columns}) VALUES ({values})"), list(groups.values()))
        connection.execute(sa.text(MEMBERS), parts)
    op.drop_index("ix_verdicts_since_run", "verdicts")
    for name in ("since_run", "good_run", *WORST):
        op.drop_column("verdicts", name)
