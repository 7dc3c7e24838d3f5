"""With each run the branch that it is for, its merge base and how it was asked for; which commits come before which.
Runs of before have none of these."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "commits",
        sa.Column("hash", sa.Text, primary_key=True),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("parents", sa.Text, nullable=False),
    )
    for name, empty in (("base", ""), ("merge_base", ""), ("asked", "{}")):
        op.add_column("runs", sa.Column(name, sa.Text, nullable=False, server_default=empty))
