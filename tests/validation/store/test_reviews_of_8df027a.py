"""What version 8df027a stored of runs and reviews is all there after the migration, and reads the same.

`upright.db.gz` was written by that version: accepted, worse, marked, accepted until a day, taken back, carried on to
another branch. `read.json` is what it read of that itself, by `read` below.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from tests.validation.store.made import judged
from tests.validation.store.test_groups import moved
from validation.judging.judge import exit_status
from validation.report.sentences import reason_of
from validation.store import Store, open_store

DATA = Path(__file__).parents[2] / "data" / "reviews_of_8df027a"
RUNS = (1, 2, 3, 4)


def read(store: Store) -> dict[str, Any]:
    """Groups as seen from each run, baselines of both branches, the ledger, verdicts."""

    def members(group: Any) -> list[Any]:
        return [(m.number, m.state, m.entry.number if m.entry else None, m.seen) for m in group.members]

    found = {
        "groups": {
            str(run): [
                (g.key, g.kind, g.engine, str(g.since), str(g.good), g.state, g.light, g.fails, members(g))
                for g in store.groups(run, closed=True)
            ]
            for run in RUNS
        },
        "base": {
            branch: sorted(
                (b.number, b.result.number, b.who, b.reason, b.scope, str(b.when), str(b.until), b.branch)
                for b in store.baselines(branch).values()
            )
            for branch in ("main", "feature")
        },
        "entries": [
            (e.number, e.act, e.who, e.reason, e.scope, e.branch, e.cases, e.refers_to, e.undone_by, str(e.until))
            for e in store.entries()
        ],
        "verdicts": [[(v.word, v.worse, reason_of(v), v.baseline) for v in store.verdicts(run)] for run in RUNS],
    }
    return dict(json.loads(json.dumps(found)))


def test_nothing_is_lost_and_nothing_is_flagged_by_an_upgrade_alone(tmp_path: Path) -> None:
    path = tmp_path / "upright.db"
    path.write_bytes(gzip.decompress((DATA / "upright.db.gz").read_bytes()))
    with open_store(path) as store:
        assert read(store) == json.loads((DATA / "read.json").read_text())
        baselines = store.baselines_of(4)
        results = store.results(4)
        verdicts = [judged(baselines[result.case.identity.key], result) for result in results]
        assert {verdict.word for verdict in verdicts} == {"pass"}, "what was accepted is accepted, by the new keys"
        worse = moved(results[0].case, 9e-2, 5.0)
        assert exit_status([judged(baselines[worse.case.identity.key], worse)]) == 1
