"""A case is the same while the parameters are that differ from their defaults (identity keys of version 2), and has the
processor that it was simulated on, which of older ones is not known.

What was at its default then is read from a copy of the defaults: those of today may have changed since.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

DEFAULTS = json.loads((Path(__file__).parents[1] / "defaults_of_8df027a.json").read_text(encoding="utf-8"))
NAMES = ("scenario", "given", "engine", "profile", "dt", "platform", "alias")
OLD_KEY = 64  # digits


def given(scenario: str, parameters: str) -> str:
    try:
        every = json.loads(parameters)
    except ValueError:
        return parameters
    if not isinstance(every, dict):
        return parameters
    defaults: dict[str, Any] = DEFAULTS.get(scenario, {})
    return json.dumps({k: v for k, v in every.items() if k not in defaults or defaults[k] != v}, sort_keys=True)


def upgrade() -> None:
    op.add_column("cases", sa.Column("given", sa.Text, nullable=False, server_default="{}"))
    op.add_column("cases", sa.Column("processor", sa.Text, nullable=False, server_default=""))
    connection = op.get_bind()
    columns = "identity_key, scenario, parameters, engine, profile, dt, platform, alias"
    changes = []
    for row in connection.execute(sa.text(f"SELECT DISTINCT {columns} FROM cases")).mappings():
        known = dict(row) | {"given": given(row["scenario"], row["parameters"])}
        text = json.dumps({name: known[name] for name in NAMES}, sort_keys=True)
        new = f"2-{hashlib.sha256(text.encode()).hexdigest()}"
        changes.append({"old": row["identity_key"], "new": new, "given": known["given"]})
    if not changes:
        return
    connection.execute(
        sa.text(
            f"UPDATE cases SET identity_key = :new, given = :given, key = :new || substr(key, {OLD_KEY + 1}) "
            "WHERE identity_key = :old"
        ),
        changes,
    )
    connection.execute(sa.text("UPDATE baselines SET identity_key = :new WHERE identity_key = :old"), changes)
