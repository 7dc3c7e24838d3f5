"""A run has its commit's message, author and date, and where the remote repository is on the web; of older ones these
are not known."""

import sqlalchemy as sa
from alembic import op

from validation.store.set_aside import remove_columns, restore_columns

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    for name in ("message", "author", "remote"):
        op.add_column("runs", sa.Column(name, sa.Text, nullable=False, server_default=""))
    op.add_column("runs", sa.Column("authored", sa.DateTime(timezone=True)))
    restore_columns(revision, "runs", "message", "author", "remote", "authored")


def downgrade() -> None:
    remove_columns(revision, "runs", "message", "author", "remote", "authored")
