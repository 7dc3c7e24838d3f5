"""Ensembles of perturbed initial states."""

import sqlalchemy as sa
from alembic import op

from validation.store.set_aside import remove_tables, restore_tables

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    if restore_tables(revision, "ensemble_series", "ensembles"):
        return
    op.create_table(
        "ensembles",
        sa.Column("case_id", sa.Integer, sa.ForeignKey("cases.id"), primary_key=True),
        sa.Column("starts", sa.Integer, nullable=False),
        sa.Column("seed", sa.Integer, nullable=False),
        sa.Column("completed", sa.Integer, nullable=False),
        sa.Column("horizon", sa.Double, nullable=False),
    )
    op.create_table(
        "ensemble_series",
        sa.Column("case_id", sa.Integer, sa.ForeignKey("ensembles.case_id"), primary_key=True),
        sa.Column("until", sa.Double, primary_key=True),
        sa.Column("metric", sa.Text, primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("unit", sa.Text, nullable=False),
        sa.Column("better", sa.Text, nullable=False),
        sa.Column("noise", sa.Text, nullable=False),
        sa.Column("floor", sa.Double, nullable=False),
        sa.Column("values", sa.Text, nullable=False),
    )


def downgrade() -> None:
    remove_tables(revision, "ensemble_series", "ensembles")
