"""Where an engine broke: its traceback, or its last words, are stored with the case."""

import sqlalchemy as sa
from alembic import op

from validation.store.set_aside import remove_columns, restore_columns

revision = "0016"
down_revision = "0015"

SAME_RESULT = ("id", "outcome")  # an older Upright may have run a case that was planned


def upgrade() -> None:
    op.add_column("cases", sa.Column("trace", sa.Text, nullable=False, server_default=""))
    restore_columns(revision, "cases", "trace", same=SAME_RESULT)


def downgrade() -> None:
    remove_columns(revision, "cases", "trace", same=SAME_RESULT)
