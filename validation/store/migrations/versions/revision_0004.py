"""Where a motion first parts from the accepted one. Verdicts of before have it not."""

import sqlalchemy as sa
from alembic import op

from validation.store.set_aside import remove_columns, restore_columns

revision = "0004"
down_revision = "0003"

SAME_VERDICT = ("case_id", "word", "changes")  # an older Upright may have judged a case again


def upgrade() -> None:
    op.add_column("verdicts", sa.Column("divergence", sa.Text, nullable=False, server_default=""))
    restore_columns(revision, "verdicts", "divergence", same=SAME_VERDICT)


def downgrade() -> None:
    remove_columns(revision, "verdicts", "divergence", same=SAME_VERDICT)
