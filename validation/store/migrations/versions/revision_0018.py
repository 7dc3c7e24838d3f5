"""A case has a digest of all that decides its result, by which a later run takes it, and the run it was taken from."""

import sqlalchemy as sa
from alembic import op

from validation.store.set_aside import remove_columns, restore_columns

revision = "0018"
down_revision = "0017"

SAME_RESULT = ("id", "outcome")  # an older Upright may have run a case that was planned


def upgrade() -> None:
    op.add_column("cases", sa.Column("cache_key", sa.Text, nullable=False, server_default=""))
    op.add_column("cases", sa.Column("taken_from", sa.Integer, nullable=False, server_default="0"))
    op.create_index("ix_cases_cache_key", "cases", ["cache_key"])
    restore_columns(revision, "cases", "cache_key", "taken_from", same=SAME_RESULT)


def downgrade() -> None:
    op.drop_index("ix_cases_cache_key", "cases")
    remove_columns(revision, "cases", "cache_key", "taken_from", same=SAME_RESULT)
