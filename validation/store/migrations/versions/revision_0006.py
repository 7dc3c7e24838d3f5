"""The ledger, and since when a verdict is told. What was accepted before has an entry from its baselines; verdicts of
before are told since their own run."""

import sqlalchemy as sa
from alembic import op

from validation.review.ledger import undone
from validation.store.set_aside import (
    remove_columns,
    remove_tables,
    restore_columns,
    restore_tables,
    set_aside,
)

revision = "0006"
down_revision = "0005"

NOTABLE = "('broken', 'defect', 'regressed', 'missing', 'different', 'improved')"
SAME_VERDICT = ("case_id", "word", "changes")  # an older Upright may have judged a case again


def upgrade() -> None:
    if not restore_tables(revision, "ledger", "ledger_cases"):
        op.create_table(
            "ledger",
            sa.Column("id", sa.Integer, primary_key=True),
            sa.Column("made", sa.DateTime(timezone=True), nullable=False),
            sa.Column("act", sa.Text, nullable=False),
            sa.Column("who", sa.Text, nullable=False),
            sa.Column("reason", sa.Text, nullable=False),
            sa.Column("scope", sa.Text, nullable=False),
            sa.Column("branch", sa.Text, nullable=False),
            sa.Column("until", sa.DateTime(timezone=True)),
            sa.Column("owner", sa.Text, nullable=False),
            sa.Column("link", sa.Text, nullable=False),
            sa.Column("refers_to", sa.Integer, sa.ForeignKey("ledger.id")),
        )
        op.create_table(
            "ledger_cases",
            sa.Column("entry_id", sa.Integer, sa.ForeignKey("ledger.id"), primary_key=True),
            sa.Column("case_id", sa.Integer, sa.ForeignKey("cases.id"), primary_key=True),
        )
        op.create_index("ix_ledger_cases_case_id", "ledger_cases", ["case_id"])
    op.add_column("baselines", sa.Column("entry_id", sa.Integer))
    op.add_column("verdicts", sa.Column("since_run", sa.Integer))
    op.add_column("verdicts", sa.Column("good_run", sa.Integer))
    op.create_index("ix_verdicts_since_run", "verdicts", ["since_run"])
    restore_columns(revision, "baselines", "entry_id", "until")
    op.execute(
        "INSERT INTO ledger (made, act, who, reason, scope, branch, until, owner, link) "
        "SELECT accepted, 'accept', who, reason, scope, branch, until, '', '' FROM baselines WHERE entry_id IS NULL "
        "GROUP BY accepted, who, reason, scope, branch, until ORDER BY MIN(id)"
    )
    op.execute(
        "UPDATE baselines SET entry_id = (SELECT MIN(ledger.id) FROM ledger WHERE ledger.made = baselines.accepted "
        "AND ledger.who = baselines.who AND ledger.branch = baselines.branch AND ledger.scope = baselines.scope "
        "AND ledger.reason = baselines.reason) WHERE entry_id IS NULL"
    )
    op.execute(
        "INSERT INTO ledger_cases SELECT DISTINCT entry_id, case_id FROM baselines WHERE entry_id IS NOT NULL AND NOT "
        "EXISTS (SELECT 1 FROM ledger_cases WHERE ledger_cases.entry_id = baselines.entry_id "
        "AND ledger_cases.case_id = baselines.case_id)"
    )
    op.execute(
        "UPDATE verdicts SET since_run = (SELECT run_id FROM cases WHERE cases.id = verdicts.case_id), "
        "good_run = (SELECT cases.run_id FROM baselines JOIN cases ON cases.id = baselines.case_id "
        f"WHERE baselines.id = verdicts.baseline_id) WHERE word IN {NOTABLE}"
    )
    restore_columns(revision, "verdicts", "since_run", "good_run", same=SAME_VERDICT)


def downgrade() -> None:
    """An acceptance that was taken back had an end, by which the older schema can say so."""
    connection = op.get_bind()
    set_aside(revision, "baselines", "entry_id", "until")
    undos = connection.execute(sa.text("SELECT id, refers_to FROM ledger WHERE act = 'undo'"))
    ended = [{"entry": entry, "undo": undo} for entry, undo in undone((row.id, row.refers_to) for row in undos).items()]
    if ended:
        end = "UPDATE baselines SET until = (SELECT made FROM ledger WHERE id = :undo) WHERE entry_id = :entry"
        connection.execute(sa.text(end), ended)
    op.drop_column("baselines", "entry_id")
    op.drop_index("ix_verdicts_since_run", "verdicts")
    remove_columns(revision, "verdicts", "since_run", "good_run", same=SAME_VERDICT)
    remove_tables(revision, "ledger_cases", "ledger")
