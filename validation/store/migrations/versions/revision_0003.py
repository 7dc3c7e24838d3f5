"""What fuzzing found."""

import sqlalchemy as sa
from alembic import op

from validation.store.set_aside import remove_tables, restore_tables

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    if restore_tables(revision, "finds"):
        return
    op.create_table(
        "finds",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("found", sa.DateTime(timezone=True), nullable=False),
        sa.Column("engine", sa.Text, nullable=False),
        sa.Column("engine_version", sa.Text, nullable=False),
        sa.Column("profile", sa.Text, nullable=False),
        sa.Column("seed", sa.Text, nullable=False),
        sa.Column("dt", sa.Double, nullable=False),
        sa.Column("oracle", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("scene_hash", sa.Text, sa.ForeignKey("scenes.hash"), nullable=False),
        sa.UniqueConstraint("engine", "oracle", "scene_hash", name="uq_finds_engine_oracle_scene_hash"),
    )


def downgrade() -> None:
    remove_tables(revision, "finds")
