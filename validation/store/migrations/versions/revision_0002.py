"""What was accepted, and what was judged."""

import sqlalchemy as sa
from alembic import op

from validation.store.set_aside import remove_tables, restore_tables

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    if restore_tables(revision, "verdicts", "baselines"):
        return
    op.create_table(
        "baselines",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("case_id", sa.Integer, sa.ForeignKey("cases.id"), nullable=False),
        sa.Column("identity_key", sa.Text, nullable=False),
        sa.Column("branch", sa.Text, nullable=False),
        sa.Column("accepted", sa.DateTime(timezone=True), nullable=False),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("until", sa.DateTime(timezone=True)),
    )
    op.create_index("ix_baselines_branch_identity_key", "baselines", ["branch", "identity_key"])
    op.create_table(
        "verdicts",
        sa.Column("case_id", sa.Integer, sa.ForeignKey("cases.id"), primary_key=True),
        sa.Column("baseline_id", sa.Integer, sa.ForeignKey("baselines.id")),
        sa.Column("word", sa.Text, nullable=False),
        sa.Column("worse", sa.Boolean, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("metric", sa.Text, nullable=False),
        sa.Column("old", sa.Double),
        sa.Column("new", sa.Double),
        sa.Column("changes", sa.Text, nullable=False),
        sa.Column("defects", sa.Text, nullable=False),
    )


def downgrade() -> None:
    remove_tables(revision, "verdicts", "baselines")
