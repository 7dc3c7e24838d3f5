"""Comparisons of two versions or settings of an engine."""

import sqlalchemy as sa
from alembic import op

from validation.store.set_aside import remove_tables, restore_tables

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    if restore_tables(revision, "comparisons"):
        return
    op.create_table(
        "comparisons",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("made", sa.DateTime(timezone=True), nullable=False),
        sa.Column("command", sa.Text, nullable=False),
        sa.Column("machine", sa.Text, nullable=False),
        sa.Column("old", sa.Text, nullable=False),
        sa.Column("new", sa.Text, nullable=False),
        sa.Column("packages", sa.Text, nullable=False),
        sa.Column("counts", sa.Text, nullable=False),
        sa.Column("lines", sa.Text, nullable=False),
    )


def downgrade() -> None:
    remove_tables(revision, "comparisons")
