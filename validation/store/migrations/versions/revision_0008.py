"""With each run the branch that it is for, its merge base and how it was asked for; which commits come before which.
Runs of before have none of these."""

import sqlalchemy as sa
from alembic import op

from validation.store.set_aside import remove_columns, remove_tables, restore_columns, restore_tables

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    if not restore_tables(revision, "commits"):
        op.create_table(
            "commits",
            sa.Column("hash", sa.Text, primary_key=True),
            sa.Column("generation", sa.Integer, nullable=False),
            sa.Column("parents", sa.Text, nullable=False),
        )
    for name, empty in (("base", ""), ("merge_base", ""), ("asked", "{}")):
        op.add_column("runs", sa.Column(name, sa.Text, nullable=False, server_default=empty))
    restore_columns(revision, "runs", "base", "merge_base", "asked")


def downgrade() -> None:
    remove_columns(revision, "runs", "base", "merge_base", "asked")
    remove_tables(revision, "commits")
