"""With each run the default branch of the repository; of older runs "", which stands for main or master."""

import sqlalchemy as sa
from alembic import op

from validation.store.set_aside import remove_columns, restore_columns

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("runs", sa.Column("default_branch", sa.Text, nullable=False, server_default=""))
    restore_columns(revision, "runs", "default_branch")


def downgrade() -> None:
    remove_columns(revision, "runs", "default_branch")
