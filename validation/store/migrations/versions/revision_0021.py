"""Finds: of which bodies the law is broken, who marked one as known and why, which engine version broke it no more."""

import sqlalchemy as sa
from alembic import op

from validation.store.set_aside import remove_columns, restore_columns

revision = "0021"
down_revision = "0020"

COLUMNS = {"bodies": "[]", "known": "", "known_by": "", "link": "", "fixed_in": ""}


def upgrade() -> None:
    for name, default in COLUMNS.items():
        op.add_column("finds", sa.Column(name, sa.Text, nullable=False, server_default=default))
    restore_columns(revision, "finds", *COLUMNS, same=("id", "scene_hash"))


def downgrade() -> None:
    remove_columns(revision, "finds", *COLUMNS, same=("id", "scene_hash"))
