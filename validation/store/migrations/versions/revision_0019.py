"""Which cases have a motion is found quickly, so that motions of old runs can be removed."""

from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.create_index("ix_cases_trajectory_key", "cases", ["trajectory_key"])


def downgrade() -> None:
    op.drop_index("ix_cases_trajectory_key", "cases")
