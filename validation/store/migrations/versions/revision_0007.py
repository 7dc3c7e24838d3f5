"""Comparisons of two versions or settings of an engine."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
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
