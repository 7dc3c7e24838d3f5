"""What a verdict rests on is stored as data, its sentence is made where it is shown; those of before keep theirs."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("verdicts", sa.Column("grounds", sa.Text, nullable=False, server_default=""))
