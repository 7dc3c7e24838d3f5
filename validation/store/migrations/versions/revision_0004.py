"""Where a motion first parts from the accepted one. Verdicts of before have it not."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("verdicts", sa.Column("divergence", sa.Text, nullable=False, server_default=""))
