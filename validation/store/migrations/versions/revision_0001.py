"""Scenes, runs, cases, measurements, trajectories."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "scenes",
        sa.Column("hash", sa.Text, primary_key=True),
        sa.Column("json", sa.Text, nullable=False),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("started", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished", sa.DateTime(timezone=True)),
        sa.Column("commit", sa.Text, nullable=False),
        sa.Column("branch", sa.Text, nullable=False),
        sa.Column("dirty", sa.Boolean, nullable=False),
        sa.Column("machine", sa.Text, nullable=False),
        sa.Column("platform", sa.Text, nullable=False),
        sa.Column("python", sa.Text, nullable=False),
        sa.Column("packages", sa.Text, nullable=False),
        sa.Column("command", sa.Text, nullable=False),
        sa.Column("timing", sa.Boolean, nullable=False),
        sa.Column("labels", sa.Text, nullable=False),
    )
    op.create_table(
        "trajectories",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "cases",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("run_id", sa.Integer, sa.ForeignKey("runs.id"), nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("identity_key", sa.Text, nullable=False),
        sa.Column("scenario", sa.Text, nullable=False),
        sa.Column("parameters", sa.Text, nullable=False),
        sa.Column("engine", sa.Text, nullable=False),
        sa.Column("profile", sa.Text, nullable=False),
        sa.Column("dt", sa.Double, nullable=False),
        sa.Column("platform", sa.Text, nullable=False),
        sa.Column("alias", sa.Text, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("engine_label", sa.Text, nullable=False),
        sa.Column("scene_hash", sa.Text, nullable=False),
        sa.Column("engine_version", sa.Text, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("outcome", sa.Text),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("headline", sa.Text, nullable=False),
        sa.Column("trajectory_hash", sa.Text, nullable=False),
        sa.Column("trajectory_key", sa.Text, sa.ForeignKey("trajectories.key")),
        sa.Column("wall_time", sa.Double, nullable=False),
        sa.Column("peak_memory", sa.Double, nullable=False),
        sa.Column("step_count", sa.Integer, nullable=False),
        sa.Column("stepping_time", sa.Double, nullable=False),
        sa.UniqueConstraint("run_id", "key", name="uq_cases_run_id_key"),
    )
    op.create_index("ix_cases_identity_key", "cases", ["identity_key"])
    op.create_table(
        "measurements",
        sa.Column("case_id", sa.Integer, sa.ForeignKey("cases.id"), primary_key=True),
        sa.Column("metric", sa.Text, primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("value", sa.Double),
        sa.Column("unit", sa.Text, nullable=False),
        sa.Column("better", sa.Text, nullable=False),
        sa.Column("noise", sa.Text, nullable=False),
        sa.Column("resolution", sa.Double),
    )


def downgrade() -> None:
    raise NotImplementedError("before the first revision there is no database")
