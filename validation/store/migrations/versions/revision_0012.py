"""What a verdict rests on is stored as data, its sentence is made where it is shown; those of before keep theirs."""

import sqlalchemy as sa
from alembic import op

from validation.store.set_aside import remove_columns, restore_columns

revision = "0012"
down_revision = "0011"

SAME_VERDICT = ("case_id", "word", "changes")  # an older Upright may have judged a case again


def upgrade() -> None:
    op.add_column("verdicts", sa.Column("grounds", sa.Text, nullable=False, server_default=""))
    restore_columns(revision, "verdicts", "grounds", same=SAME_VERDICT)


def downgrade() -> None:
    remove_columns(revision, "verdicts", "grounds", same=SAME_VERDICT)
