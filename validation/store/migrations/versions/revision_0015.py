"""What happened is stored with each case and each ensemble; of stored cases it is worked out from their motions.

NULL: not known, since there is no motion or it cannot be read; [] : nothing happened. Cases of the same motion of the
same scene are looked at once.
"""

import json
import sys
from collections import Counter
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from alembic import op

from scenarios.scenario import ParameterError, Scenario
from scenarios.scene import Scene, parse_scene, same_scene
from validation.records.outcome import outcomes_to_json
from validation.records.trajectory import from_bytes
from validation.store.compression import unpack
from validation.store.errors import StoreError
from validation.store.set_aside import is_aside, remove_columns, restore_columns

revision = "0015"
down_revision = "0014"

WHICH = ("label", "scenario", "given", "scene_hash", "trajectory_key")
SAME = " AND ".join(f"{name} = :{name}" for name in WHICH)
SAME_RESULT = ("id", "outcome")  # an older Upright may have run a case that was planned
MANY = 200  # motions: the least of which the user is told how far it is


def upgrade() -> None:
    op.add_column("cases", sa.Column("happened", sa.Text))
    op.add_column("ensembles", sa.Column("happened", sa.Text))
    connection = op.get_bind()
    columns = ", ".join(WHICH)
    unknown = "trajectory_key IS NOT NULL"
    if aside := is_aside(revision, "cases"):
        unknown += f" AND id NOT IN (SELECT id FROM {aside} WHERE outcome IS NOT NULL)"
    moved = connection.execute(
        sa.text(f"SELECT DISTINCT {columns} FROM cases WHERE {unknown} ORDER BY {columns}")
    ).all()
    failed = Counter[str]()
    for done, row in enumerate(moved):
        if len(moved) >= MANY and done % MANY == 0:
            print(f"  what happened in {len(moved)} stored motions is worked out: {done} done", file=sys.stderr)
        try:
            found = happened(connection, row)
        except Exception as error:  # a motion that cannot be looked at must not lock up the others
            failed[f"{type(error).__name__}: {error}"] += 1
            continue
        connection.execute(
            sa.text(f"UPDATE cases SET happened = :found WHERE {SAME}"), row._asdict() | {"found": found}
        )
    for reason, count in failed.items():
        print(f"  what happened is not known of {count} stored motions: {reason}", file=sys.stderr)
    restore_columns(revision, "cases", "happened", same=SAME_RESULT)
    restore_columns(revision, "ensembles", "happened", same=("case_id",))


def downgrade() -> None:
    remove_columns(revision, "cases", "happened", same=SAME_RESULT)
    remove_columns(revision, "ensembles", "happened", same=("case_id",))


def happened(connection: sa.Connection, row: Any) -> str:
    from validation.metrics import happened_in  # kernels, which an empty database needs not

    scene = connection.execute(sa.text("SELECT json FROM scenes WHERE hash = :scene_hash"), row._asdict()).scalar()
    if scene is None:
        raise StoreError("its scene is not stored")
    query = "SELECT data FROM trajectories WHERE key = :trajectory_key"
    motion = from_bytes(unpack(connection.execute(sa.text(query), row._asdict()).scalar_one()))
    in_catalogue = "content" not in json.loads(row.given)
    return outcomes_to_json(happened_in(scenario(row.label if in_catalogue else "", row.scenario, scene), motion))


@lru_cache(maxsize=64)
def scenario(label: str, name: str, text: str) -> Scenario:
    """With the truth of the catalogue's where that still has this scene; else what holds for any scene."""
    from scenarios.catalogue import FAMILIES, scenario_of
    from scenarios.catalogue.shared.scene_file import scenario_from_scene

    scene: Scene = parse_scene(json.loads(text))
    if label.partition(":")[0] in FAMILIES:  # no file is read because a database names it
        try:
            known = scenario_of(label)
            if same_scene(known.scene, scene):
                return known
        except ParameterError:  # the family has lost a parameter since
            pass
    return scenario_from_scene(name, scene)
