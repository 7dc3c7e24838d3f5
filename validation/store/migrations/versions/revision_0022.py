"""Finds: the motion, the script and the issue of each, and the first version of its engine that breaks the law."""

import sqlalchemy as sa
from alembic import op

from validation.store.set_aside import remove_columns, restore_columns

revision = "0022"
down_revision = "0021"

COLUMNS = ("trajectory_key", "script", "issue", "lacks", "since", "not_in")


def upgrade() -> None:
    for name in COLUMNS:
        op.add_column("finds", sa.Column(name, sa.Text, nullable=False, server_default=""))
    restore_columns(revision, "finds", *COLUMNS, same=("id", "scene_hash"))


def downgrade() -> None:
    remove_columns(revision, "finds", *COLUMNS, same=("id", "scene_hash"))
