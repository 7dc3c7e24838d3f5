"""Results outlive the code: an older database is brought up to date, a newer one is left alone."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from reference_engine.array_types import Array
from scenarios.catalogue import scenario_of
from scenarios.scene import planar_start, write_scene
from tests.validation.store.made import case, measurement, result
from validation.records.trajectory import PlanarTrajectory, to_bytes
from validation.report.sentences import reason_of
from validation.store import models, open_store
from validation.store.ancestry import ranks
from validation.store.compression import pack
from validation.store.connection import connect, reading, writing
from validation.store.errors import StoreError
from validation.store.migration import SCRIPTS, migrate, upgrade
from validation.store.revision import HEAD, revision_of


def revisions() -> list[str]:
    configuration = Config()
    configuration.set_main_option("script_location", str(SCRIPTS))
    return [script.revision for script in ScriptDirectory.from_config(configuration).walk_revisions()][::-1]


def test_head_is_the_last_migration() -> None:
    assert revisions()[-1] == HEAD
    assert revisions() == sorted(revisions()), "a newer revision is told from an older one by its number"


def test_the_migrations_make_what_the_models_describe(where: str) -> None:
    engine, name = connect(where)
    migrate(engine, name)
    with reading(engine, name) as connection:
        assert compare_metadata(MigrationContext.configure(connection), models.Base.metadata) == []
    engine.dispose()


def test_a_database_of_the_first_revision_keeps_what_it_has(where: str) -> None:
    engine, name = connect(where)
    with writing(engine, name) as connection:
        upgrade(connection, "0001")
        connection.execute(
            sa.text(
                "INSERT INTO runs VALUES (7, '2026-11-03 12:30:15', NULL, 'abc', 'main', false, 'm', 'p', '3.11', '{}',"
                " 'upright run', false, '{}')"
            )
        )
    engine.dispose()
    with open_store(where) as store:
        assert store.run(7).info.commit == "abc"
        store.save_results(7, [result(case(), measurement())])
        store.finish_run(7)
        assert len(store.accept(7, who="R.", reason="still here")) == 1


def test_a_verdict_of_before_the_first_divergence_is_read_without_one(where: str) -> None:
    engine, name = connect(where)
    with writing(engine, name) as connection:
        upgrade(connection, "0003")
        connection.execute(
            sa.text(
                "INSERT INTO runs VALUES (7, '2026-11-03 12:30:15', NULL, 'abc', 'main', false, 'm', 'p', '3.11', '{}',"
                " 'upright run', false, '{}')"
            )
        )
        connection.execute(
            sa.text(
                "INSERT INTO cases VALUES (9, 7, 'k', 'i', 'stack', '{}', 'pymunk', 'fair', 0.01, 'p', '', 'stack',"
                " 'pymunk', '0', '7', '{}', 'completed', '', '', 'h', NULL, 0.1, 0.0, 1, 0.1)"
            )
        )
        connection.execute(
            sa.text("INSERT INTO verdicts VALUES (9, NULL, 'pass', false, 'as it was', '', NULL, NULL, '[]', '[]')")
        )
    engine.dispose()
    with open_store(where) as store:
        (verdict,) = store.verdicts(7)
    assert (reason_of(verdict), verdict.divergence) == ("as it was", None)


def test_runs_of_before_stand_in_the_order_of_their_commits(where: str) -> None:
    """Run as a, c, b, and once more where nothing is known of the commit."""
    engine, name = connect(where)
    with writing(engine, name) as connection:
        upgrade(connection, "0013")
        for run, commit in ((7, "a"), (8, "c"), (9, "b"), (10, "x")):
            connection.execute(
                sa.text(
                    "INSERT INTO runs VALUES (:run, '2026-11-03 12:30:15', NULL, :commit, 'main', false, 'm', 'p',"
                    " '3.11', :none, '', false, :none, '', '', :none, '')"
                ),
                {"run": run, "commit": commit, "none": "{}"},
            )
        for generation, (commit, parents) in enumerate([("a", "[]"), ("b", '["a"]'), ("c", '["a"]')], 1):
            row = {"hash": commit, "generation": generation, "parents": parents}
            connection.execute(sa.text("INSERT INTO commits VALUES (:hash, :generation, :parents)"), row)
    migrate(engine, name)
    with reading(engine, name) as connection:
        assert ranks(connection) == {7: 1, 8: 3, 9: 2, 10: 4}
    engine.dispose()


@pytest.mark.parametrize("revision", ["0001", "0002", "0003", "0004"])
def test_every_older_revision_comes_up_to_date(where: str, revision: str) -> None:
    engine, name = connect(where)
    with writing(engine, name) as connection:
        upgrade(connection, revision)
    migrate(engine, name)
    with reading(engine, name) as connection:
        assert revision_of(connection, name) == HEAD
        assert compare_metadata(MigrationContext.configure(connection), models.Base.metadata) == []
    engine.dispose()


def test_a_migration_that_fails_halfway_leaves_the_older_database_whole(where: str) -> None:
    """It is one transaction, DDL and all."""
    engine, name = connect(where)
    with writing(engine, name) as connection:
        upgrade(connection, "0001")
        connection.execute(
            sa.text("CREATE TABLE verdicts (x INTEGER)")
        )  # 0002 makes baselines, then stumbles over this
    with pytest.raises(StoreError):
        migrate(engine, name)
    with reading(engine, name) as connection:
        assert revision_of(connection, name) == "0001"
        assert "baselines" not in sa.inspect(connection).get_table_names()
    engine.dispose()


def key_of_8df027a(parameters: dict[str, object]) -> str:
    """As that version made it: of all parameters."""
    identity = {
        **{"scenario": "stack", "parameters": json.dumps(parameters, sort_keys=True), "engine": "pymunk"},
        **{"profile": "fair", "dt": 1 / 240, "platform": "linux-x86_64", "alias": ""},
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def test_a_case_of_8df027a_keeps_its_baseline_and_its_family_may_gain_a_parameter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The key is worked out anew, of what differs from the defaults of then; the file is copied first."""
    path = tmp_path / "u.db"
    engine, name = connect(str(path))
    defaults = json.loads((SCRIPTS / "defaults_of_8df027a.json").read_text())["stack"]
    given = [defaults, defaults | {"n": defaults["n"] + 1}]
    keys = [key_of_8df027a(parameters) for parameters in given]
    with writing(engine, name) as connection:
        upgrade(connection, "0008")
        rows = {"when": "2026-11-03 12:30:15", "packages": "{}"}
        connection.execute(
            sa.text(
                "INSERT INTO runs VALUES (7, :when, :when, 'abc', 'main', false, 'm', 'p', '3.11', :packages, '',"
                " false, :packages, '', '', :packages)"
            ),
            rows,
        )
        for number, (key, parameters) in enumerate(zip(keys, given), 1):
            values = {"id": number, "key": f"{key}-5e", "identity": key, "given": json.dumps(parameters)}
            connection.execute(
                sa.text(
                    "INSERT INTO cases VALUES (:id, 7, :key, :identity, 'stack', :given, 'pymunk', 'fair', :dt,"
                    " 'linux-x86_64', '', 'stack', 'pymunk', '0', '7', '{}', 'completed', '', '', 'h', NULL, 0.1, 0.0,"
                    " 1, 0.1)"
                ),
                values | {"dt": 1 / 240},
            )
            connection.execute(
                sa.text(
                    "INSERT INTO baselines VALUES (:id, :id, :identity, 'main', :when, 'R.', 'x', 'x', NULL, NULL)"
                ),
                {"id": number, "identity": key, "when": rows["when"]},
            )
    engine.dispose()
    with open_store(path) as store:
        results = store.results(7)
        assert [json.loads(result.case.identity.given) for result in results] == [{}, {"n": defaults["n"] + 1}]
        assert [json.loads(result.case.parameters) for result in results] == given
        assert {b.result.number for b in store.baselines("main").values()} == {1, 2}
        assert store.baselines("main").keys() == {result.case.identity.key for result in results}
    with sqlite3.connect(path) as brought:
        found = brought.execute("SELECT key FROM cases ORDER BY id").fetchall()
        assert [row[0] for row in found] == [f"{result.case.identity.key}-5e" for result in results]
    copy = path.with_name("u.db.revision-0008")
    assert f"as it was: {copy}" in capsys.readouterr().err
    with sqlite3.connect(copy) as kept:
        assert [row[0] for row in kept.execute("SELECT identity_key FROM baselines ORDER BY id")] == keys
    open_store(path).close()
    assert capsys.readouterr().err == "", "once"


def test_what_happened_in_stored_motions_is_worked_out(where: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Two bodies at rest in the air, without a scene, without a motion; the scene's truth is that of the catalogue."""
    engine, name = connect(where)
    drop = scenario_of("bouncing-ball").scene
    text, motion = write_scene(drop, indent=None), to_bytes(held(*planar_start(drop)))
    with writing(engine, name) as connection:
        upgrade(connection, "0014")
        connection.execute(
            sa.text(
                "INSERT INTO runs VALUES (7, '2026-11-03 12:30:15', NULL, 'abc', 'main', false, 'm', 'p', '3.11', '{}',"
                " 'upright run', false, '{}', '', '', '{}', '', 1)"
            )
        )
        connection.execute(sa.text("INSERT INTO scenes VALUES ('s', :text)"), {"text": text})
        connection.execute(sa.text("INSERT INTO trajectories VALUES ('t', :data)"), {"data": pack(motion)})
        for number, scene_hash, key in ((1, "s", "t"), (2, "s", "t"), (3, "lost", "t"), (4, "s", None)):
            connection.execute(
                sa.text(
                    "INSERT INTO cases VALUES (:number, 7, :number, 'i', 'bouncing-ball', '{}', 'toy', 'fair', 0.004,"
                    " 'p', '', 'bouncing-ball', 'toy', :scene, '7', '{}', 'completed', '', '', 'h', :key, 0.1, 0.0, 1,"
                    " 0.1, '{}', '')"
                ),
                {"number": number, "scene": scene_hash, "key": key},
            )
    engine.dispose()
    with open_store(where) as store:
        first, second, lost, unmoved = (result.outcomes for result in store.results(7))
    assert first == second and lost is None and unmoved is None
    wrong = {one.kind for one in first or () if one.right is False}
    assert wrong == {"hangs", "never moved", "stopped", "bounced"}
    assert (
        "what happened is not known of 1 stored motions: StoreError: its scene is not stored" in capsys.readouterr().err
    )


def held(pose: Array, twist: Array) -> PlanarTrajectory:
    """As it starts, for ever."""
    samples = np.arange(97) / 48.0
    still = np.tile(pose[None], (len(samples), 1, 1))
    return PlanarTrajectory(time=samples, pose=still, twist=0.0 * still, dt=1 / 240, velocity_lag=0.0)


def test_a_newer_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "u.db"
    open_store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0099'")
    with pytest.raises(
        StoreError, match=r"u\.db: revision 0099 is newer than this Upright knows \(\d+\); upgrade Upright"
    ):
        open_store(path)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("CREATE TABLE songs (title TEXT)", "a database of something else \\(it has: songs\\)"),
        ("CREATE TABLE alembic_version (version_num TEXT)", None),
    ],
)
def test_somebody_elses_database_is_left_alone(tmp_path: Path, statement: str, words: str | None) -> None:
    path = tmp_path / "u.db"
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
        if words is None:
            connection.execute("INSERT INTO alembic_version VALUES ('0001')")
            words = "a database of something else \\(revision 0001\\)"
    before = path.read_bytes()
    with pytest.raises(StoreError, match=words):
        open_store(path)
    assert path.read_bytes() == before


def test_what_was_accepted_and_told_before_the_ledger_is_in_it(where: str) -> None:
    engine, name = connect(where)
    with writing(engine, name) as connection:
        upgrade(connection, "0005")
        for run in (7, 8):
            connection.execute(
                sa.text(
                    f"INSERT INTO runs VALUES ({run}, '2026-11-03 12:30:15', '2026-11-03 12:31:15', 'abc{run}', 'main',"
                    " false, 'm', 'p', '3.11', '{}', 'upright run', false, '{}')"
                )
            )
            for number, scenario in ((10 * run + 1, "stack"), (10 * run + 2, "pile")):
                connection.execute(
                    sa.text(
                        f"INSERT INTO cases VALUES ({number}, {run}, 'k{number}', 'i-{scenario}', '{scenario}', '{{}}',"
                        f" 'pymunk', 'fair', 0.01, 'p', '', '{scenario}', 'pymunk', '0', '7', '{{}}', 'completed', '',"
                        f" '', 'h{run}', NULL, 0.1, 0.0, 1, 0.1)"
                    )
                )
        for number, case_number in ((1, 71), (2, 72)):
            connection.execute(
                sa.text(
                    f"INSERT INTO baselines VALUES ({number}, {case_number},"
                    f" '{'i-stack' if number == 1 else 'i-pile'}', 'main', '2026-11-03 13:00:00.5', 'R.', 'first look',"
                    " 'the whole run', NULL)"
                )
            )
        connection.execute(
            sa.text(
                "INSERT INTO verdicts VALUES (81, 1, 'regressed', true, 'worse', '', NULL, NULL, '[]', '[]', ''),"
                " (82, 2, 'pass', false, 'as it was', '', NULL, NULL, '[]', '[]', '')"
            )
        )
    engine.dispose()
    with open_store(where) as store:
        (entry,) = store.entries()
        assert (entry.act, entry.who, entry.reason, entry.cases) == ("accept", "R.", "first look", (71, 72))
        (group,) = store.groups(8)
        assert (group.since.run, group.good and group.good.run, group.state) == (8, 7, "new")
        store.undo(entry.number, who="R.", reason="no")
        assert store.baselines("main") == {}
