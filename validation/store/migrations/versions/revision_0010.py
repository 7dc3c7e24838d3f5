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

from validation.store.set_aside import is_aside, restore_columns, set_aside

revision = "0010"
down_revision = "0009"

DEFAULTS = json.loads((Path(__file__).parents[1] / "defaults_of_8df027a.json").read_text(encoding="utf-8"))
OLD_NAMES = ("scenario", "parameters", "engine", "profile", "dt", "platform", "alias")
NAMES = ("scenario", "given", "engine", "profile", "dt", "platform", "alias")
OLD_KEY = 64  # digits
BASELINES = "UPDATE baselines SET identity_key = (SELECT identity_key FROM cases WHERE cases.id = baselines.case_id)"


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
    known = _identities_aside()
    changes = []
    for row in _identities():
        of = dict(row) | {"given": given(row["scenario"], row["parameters"])}
        made = f"2-{_digest({name: of[name] for name in NAMES})}", of["given"]
        new, text = known.get(row["identity_key"], made)
        changes.append({"old": row["identity_key"], "new": new, "given": text, "digits": OLD_KEY})
    _rename(changes, ", given = :given")
    restore_columns(revision, "cases", "identity_key", "key", "given", "processor")
    op.execute(BASELINES)


def downgrade() -> None:
    set_aside(revision, "cases", "identity_key", "key", "given", "processor")
    changes = []
    for row in _identities():
        old = _digest({name: row[name] for name in OLD_NAMES})
        changes.append({"old": row["identity_key"], "new": old, "digits": len(row["identity_key"])})
    _rename(changes)
    op.execute(BASELINES)
    for name in ("given", "processor"):
        op.drop_column("cases", name)


def _identities() -> list[Any]:
    columns = "identity_key, scenario, parameters, engine, profile, dt, platform, alias"
    return list(op.get_bind().execute(sa.text(f"SELECT DISTINCT {columns} FROM cases")).mappings())


def _identities_aside() -> dict[str, tuple[str, str]]:
    """Old identity key -> the latest new one, and what it was given: defaults may have changed since 8df027a."""
    if not (aside := is_aside(revision, "cases")):
        return {}
    query = (
        "SELECT cases.identity_key AS old, aside.identity_key AS new, aside.given FROM cases "
        f"JOIN {aside} AS aside ON aside.id = cases.id ORDER BY cases.id"
    )
    return {row.old: (row.new, row.given) for row in op.get_bind().execute(sa.text(query))}


def _digest(identity: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def _rename(changes: list[dict[str, Any]], more: str = "") -> None:
    if changes:
        key = "key = :new || substr(key, :digits + 1)"
        rename = f"UPDATE cases SET identity_key = :new, {key}{more} WHERE identity_key = :old"
        op.get_bind().execute(sa.text(rename), changes)
