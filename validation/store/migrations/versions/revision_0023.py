"""Passports: what an engine's bits depended on."""

import sqlalchemy as sa
from alembic import op

from validation.store.set_aside import remove_tables, restore_tables

revision = "0023"
down_revision = "0022"

TEXTS = ("command", "machine", "engine", "engine_version", "profile", "platform", "processor", "ways", "declined")


def upgrade() -> None:
    if restore_tables(revision, "passports"):
        return
    op.create_table(
        "passports",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("made", sa.DateTime(timezone=True), nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in TEXTS),
    )


def downgrade() -> None:
    remove_tables(revision, "passports")
