"""The order of commits is stored with the runs."""

import sqlalchemy as sa
from alembic import op

from validation.review.lineage import Commits

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.add_column("runs", sa.Column("rank", sa.Integer, nullable=False, server_default="0"))
    connection = op.get_bind()
    commits = Commits(connection.execute(sa.text("SELECT hash, generation, parents FROM commits")).all())
    runs = connection.execute(sa.text('SELECT id, "commit", branch, base, default_branch FROM runs ORDER BY id')).all()
    ranks = [{"id": row.id, "rank": rank} for rank, row in enumerate(commits.in_order(runs), 1)]
    if ranks:
        connection.execute(sa.text("UPDATE runs SET rank = :rank WHERE id = :id"), ranks)


def downgrade() -> None:
    op.drop_column("runs", "rank")  # the order is worked out anew
