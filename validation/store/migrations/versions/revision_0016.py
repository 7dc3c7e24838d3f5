"""Where an engine broke: its traceback, or its last words, are stored with the case."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.add_column("cases", sa.Column("trace", sa.Text, nullable=False, server_default=""))
