"""A baseline is a case of an acceptance in the ledger, and nothing of its own: the table that repeated the ledger goes.

Cases of entries get numbers; those of acceptances are their baselines' numbers of before, which verdicts refer to.
"""

import sqlalchemy as sa
from alembic import op

from validation.store.set_aside import is_aside, set_aside

revision = "0011"
down_revision = "0010"

LIKE_ITS_ENTRY = "ledger.made = baselines.accepted AND " + " AND ".join(
    f"ledger.{name} = baselines.{name}" for name in ("who", "branch", "scope", "reason")
)
JUDGED = "word, worse, v.reason, metric, old, new, changes, defects, divergence, since_run, good_run"


def upgrade() -> None:
    op.execute(  # none that 0006 or any version since has made
        "INSERT INTO ledger (made, act, who, reason, scope, branch, until, owner, link) "
        "SELECT accepted, 'accept', who, reason, scope, branch, until, '', '' FROM baselines WHERE entry_id IS NULL "
        "GROUP BY accepted, who, reason, scope, branch, until ORDER BY MIN(id)"
    )
    op.execute(
        f"UPDATE baselines SET entry_id = (SELECT MIN(ledger.id) FROM ledger WHERE {LIKE_ITS_ENTRY}) "
        "WHERE entry_id IS NULL"
    )
    op.create_table(
        "numbered",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("entry_id", sa.Integer, sa.ForeignKey("ledger.id"), nullable=False),
        sa.Column("case_id", sa.Integer, sa.ForeignKey("cases.id"), nullable=False),
        sa.UniqueConstraint("entry_id", "case_id", name="uq_ledger_cases_entry_id_case_id"),
    )
    op.execute(
        "INSERT INTO numbered (id, entry_id, case_id) SELECT MIN(id), entry_id, case_id FROM baselines "
        "GROUP BY entry_id, case_id"
    )
    if aside := is_aside(revision, "ledger_cases"):
        op.execute(
            f"INSERT INTO numbered (id, entry_id, case_id) SELECT id, entry_id, case_id FROM {aside} AS aside "
            "WHERE NOT EXISTS (SELECT 1 FROM numbered WHERE numbered.id = aside.id)"
        )
        op.drop_table(aside)
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "SELECT setval(pg_get_serial_sequence('numbered', 'id'), (SELECT 1 + COALESCE(MAX(id), 0) FROM numbered))"
        )
    op.execute(
        "INSERT INTO numbered (entry_id, case_id) SELECT entry_id, case_id FROM ledger_cases WHERE NOT EXISTS "
        "(SELECT 1 FROM numbered WHERE numbered.entry_id = ledger_cases.entry_id "
        "AND numbered.case_id = ledger_cases.case_id) ORDER BY entry_id, case_id"
    )
    _create_judged("numbered")
    op.execute(
        f"INSERT INTO judged (case_id, baseline_id, {JUDGED.replace('v.', '')}) "
        f"SELECT v.case_id, n.id, {JUDGED} FROM verdicts v LEFT JOIN baselines b ON b.id = v.baseline_id "
        "LEFT JOIN numbered n ON n.entry_id = b.entry_id AND n.case_id = b.case_id"
    )
    for table in ("verdicts", "baselines", "ledger_cases"):
        op.drop_table(table)
    op.rename_table("judged", "verdicts")
    op.rename_table("numbered", "ledger_cases")
    op.create_index("ix_verdicts_since_run", "verdicts", ["since_run"])
    op.create_index("ix_ledger_cases_case_id", "ledger_cases", ["case_id"])


def downgrade() -> None:
    op.create_table(
        "baselines",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("case_id", sa.Integer, sa.ForeignKey("cases.id"), nullable=False),
        sa.Column("identity_key", sa.Text, nullable=False),
        sa.Column("branch", sa.Text, nullable=False),
        sa.Column("accepted", sa.DateTime(timezone=True), nullable=False),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("until", sa.DateTime(timezone=True)),
        sa.Column("entry_id", sa.Integer),
    )
    op.create_index("ix_baselines_branch_identity_key", "baselines", ["branch", "identity_key"])
    op.execute(
        "INSERT INTO baselines (id, case_id, identity_key, branch, accepted, who, reason, scope, until, entry_id) "
        "SELECT n.id, n.case_id, cases.identity_key, ledger.branch, made, who, ledger.reason, scope, until, entry_id "
        "FROM ledger_cases n JOIN ledger ON ledger.id = n.entry_id JOIN cases ON cases.id = n.case_id "
        "WHERE act = 'accept'"
    )
    if op.get_bind().dialect.name == "postgresql":
        latest = "SELECT 1 + COALESCE(MAX(id), 0) FROM ledger_cases"
        op.execute(f"SELECT setval(pg_get_serial_sequence('baselines', 'id'), ({latest}))")
    _create_judged("baselines")
    columns = f"case_id, baseline_id, {JUDGED.replace('v.', '')}"
    op.execute(f"INSERT INTO judged ({columns}) SELECT {columns} FROM verdicts")
    others = "entry_id IN (SELECT id FROM ledger WHERE act <> 'accept')"
    set_aside(revision, "ledger_cases", "entry_id", "case_id", where=others)
    op.create_table(
        "paired",
        sa.Column("entry_id", sa.Integer, sa.ForeignKey("ledger.id"), primary_key=True),
        sa.Column("case_id", sa.Integer, sa.ForeignKey("cases.id"), primary_key=True),
    )
    op.execute("INSERT INTO paired (entry_id, case_id) SELECT entry_id, case_id FROM ledger_cases")
    for table in ("verdicts", "ledger_cases"):
        op.drop_table(table)
    op.rename_table("judged", "verdicts")
    op.rename_table("paired", "ledger_cases")
    op.create_index("ix_verdicts_since_run", "verdicts", ["since_run"])
    op.create_index("ix_ledger_cases_case_id", "ledger_cases", ["case_id"])


def _create_judged(baselines: str) -> None:
    """What the verdicts are from now on, of a baseline in this table."""
    op.create_table(
        "judged",
        sa.Column("case_id", sa.Integer, sa.ForeignKey("cases.id"), primary_key=True),
        sa.Column("baseline_id", sa.Integer, sa.ForeignKey(f"{baselines}.id")),
        sa.Column("word", sa.Text, nullable=False),
        sa.Column("worse", sa.Boolean, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("metric", sa.Text, nullable=False),
        sa.Column("old", sa.Double),
        sa.Column("new", sa.Double),
        sa.Column("changes", sa.Text, nullable=False),
        sa.Column("defects", sa.Text, nullable=False),
        sa.Column("divergence", sa.Text, nullable=False),
        sa.Column("since_run", sa.Integer),
        sa.Column("good_run", sa.Integer),
    )
