#!/bin/bash
# Makes the files of this folder anew: make.sh PYTHON WORK
# PYTHON is that of an environment with the Upright of 8df027a; WORK, an empty folder, becomes a git repository with
# engines of its own; the files are in WORK/out afterwards.
set -u
python=$1 work=$2 here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$work" && cd "$work" && mkdir -p out/printed out/during out/scenes || exit 2
cp "$here"/scenes/planar.json "$here"/scenes/spatial.json out/scenes/

export UPRIGHT_DB=history.db UPRIGHT_USER=R. COLUMNS=140 NO_COLOR=1 PYTHONDONTWRITEBYTECODE=1
export GIT_AUTHOR_NAME=Rae GIT_AUTHOR_EMAIL=r@example.org GIT_COMMITTER_NAME=Rae GIT_COMMITTER_EMAIL=r@example.org
minute=10
upright() { "$(dirname "$python")"/upright "$@"; }
commit() { # MESSAGE DEPTH ITERATIONS FAILS
    printf 'DEPTH, ITERATIONS, FAILS = %s, %s, %s\n' "$2" "$3" "$4" > values.py
    git add -A
    export GIT_AUTHOR_DATE="2026-11-20T09:$minute:00Z" GIT_COMMITTER_DATE="2026-11-20T09:$minute:00Z"
    git commit --allow-empty -qm "$1"
    minute=$((minute + 1))
}
group() { # the key of a group in the latest run, of an engine
    upright regressions --json | "$python" -c "
import json, sys
print(next(g['group'] for g in map(json.loads, sys.stdin) if g['engine'] == '$1'))"
}
print_to() { # FILE WORDS...: what a command prints, below the words
    file=out/$1.txt && shift
    { echo "\$ upright $*"; upright "$@" 2> errors; echo "exit status $?"; echo; } >> "$file"
}

git init -q -b main .
printf 'history.db*\n__pycache__\nupright-reports\nplanar.json\nout\nerrors\nshown.html\n' > .gitignore
cat > toy.py <<'END'
import time

import numpy as np

from validation.engines.pymunk_engine import Pymunk
from validation.trajectory import PlanarTrajectory
from values import DEPTH, FAILS, ITERATIONS


class Toy:
    """Everything rests, DEPTH below where it was put."""

    name, version = "toy", "1.0"

    def declines(self, scene):
        return "toy has no bodies in space" if scene.dimension == 3 else None

    def simulate(self, scene, dt, settings):
        times = dt * np.arange(round(scene.duration / dt) + 1)
        pose = np.zeros((len(times), len(scene.bodies), 3))
        for i, body in enumerate(scene.bodies):
            pose[:, i] = (*body.position, body.angle)
            pose[:, i, 1] -= DEPTH
        return PlanarTrajectory(time=times, pose=pose, twist=np.zeros_like(pose), dt=dt, velocity_lag=0.0)


class Fragile(Toy):
    name = "fragile"

    def simulate(self, scene, dt, settings):
        if FAILS:
            raise RuntimeError("the solver left the finite numbers")
        return super().simulate(scene, dt, settings)


class Slow(Toy):
    name = "slow"

    def simulate(self, scene, dt, settings):
        time.sleep(2.0)
        return super().simulate(scene, dt, settings)


class Rising(Toy):
    """Gains energy from nothing."""

    name = "rising"

    def simulate(self, scene, dt, settings):
        motion = super().simulate(scene, dt, settings)
        motion.pose[:, :, 1] += 0.5 * motion.time[:, None]
        return motion


class Solver(Pymunk):
    name, version = "solver", "1.0"

    def profile(self, name, scene, dt):
        return super().profile(name, scene, dt) | {"iterations": ITERATIONS}
END
engines="--engine toy.Toy --engine toy.Fragile --engine toy.Solver --engine pymunk"
scenes="overlapped-start stack:n=3 newtons-cradle bouncing-ball:restitution=0.5 block-against-wall single-impact"

# main: accepted, quiet, an engine that sinks, a solver with fewer iterations
commit "engines" 0.0 50 False
upright run $scenes $engines > /dev/null
upright accept --reason "first look" > /dev/null
upright run newtons-cradle pendulum:space=spatial --engine reference --engine mujoco > /dev/null
upright accept --until 2099-01-01 --reason "until the next release" > /dev/null
commit "words only" 0.0 50 False
print_to during/check check $scenes $engines --json-file out/check.jsonl --junit out/junit.xml --markdown out/summary.md
upright run $scenes --engine pymunk --json > out/run.jsonl 2> /dev/null
commit "toy sinks by 2 mm" 0.002 50 False
print_to during/check check $scenes $engines
print_to during/regressions regressions
upright mark known "$(group toy.Toy)" --link "#31" --reason "the new floor" > /dev/null
upright mark acknowledge "$(group toy.Fragile)" --reason "seen" > /dev/null
commit "solver with fewer iterations, fragile fails" 0.002 5 True
print_to during/check check $scenes $engines --json-file out/check-worse.jsonl --junit out/junit-worse.xml \
    --markdown out/summary-worse.md
print_to during/regressions regressions
upright mark quarantine "$(group toy.Solver)" --until 2099-01-01 --owner O. --reason "waits for the release" > /dev/null
upright mark reject "$(group toy.Fragile)" --reason "to be mended" > /dev/null
upright mark not-a-fault "$(group toy.Toy)" --scenario stack:n=3 --reason "it stands" > /dev/null
upright undo 5 --reason "too early" > /dev/null
upright undo 8 --reason "it was not too early" > /dev/null
print_to during/regressions regressions --all

# a branch from the second commit, as a CI job
git checkout -q -b feature main~2
commit "toy sinks by 3 mm, solver with 30 iterations" 0.003 30 False
print_to during/ci ci $scenes $engines --base main --reports out/reports
rm -r out/reports/motion # pages that play the motion, large
upright accept stack:n=3 overlapped-start --engine toy.Toy --reason "3 mm are right" > /dev/null
commit "the same again" 0.003 30 False
print_to during/ci ci $scenes $engines --base main --reports upright-reports
print_to during/regressions regressions
git checkout -q main
commit "fragile works" 0.002 5 False
print_to during/check check $scenes $engines

# ensembles, orders, times of steps, aliases, overrides, files, comparisons, finds, a run that was killed
upright run stack:n=3 --engine toy.Solver --ensemble 10 > /dev/null
upright accept --reason "with an ensemble" > /dev/null
commit "solver with 2 iterations" 0.002 2 False
print_to during/check check stack:n=3 --engine toy.Solver --as tall
print_to during/check check stack:n=3 --engine toy.Solver
upright run bouncing-ball:restitution=0.5 --engine pymunk --order --as order > /dev/null
upright run overlapped-start --engine pymunk:iterations=5 --engine pymunk@default --timing > /dev/null
cp out/scenes/planar.json . && upright run planar.json --engine pymunk > /dev/null
upright compare pymunk@default pymunk@fair stack:n=3 newtons-cradle --ensemble 10 > /dev/null
commit "fragile fails again" 0.002 2 True
upright fuzz --engine toy.Rising --engine toy.Fragile --minutes 0.2 --seed 7 > /dev/null
"$(dirname "$python")"/upright run $scenes --engine toy.Slow --workers 1 > /dev/null 2>&1 &
"$python" - <<'END'
import sqlite3, time
for _ in range(6000):  # until its first case is done
    time.sleep(0.05)
    if sqlite3.connect("history.db").execute(
        "select count(*) from cases where engine = 'toy.Slow' and outcome is not null"
    ).fetchone()[0]:
        break
END
kill -KILL $! && wait

# One quarantine and one acceptance have ended since: the command takes no day that has gone by.
"$python" - <<'END'
import sqlite3
with sqlite3.connect("history.db") as db:
    last = db.execute("select max(id) from ledger where act = 'known'").fetchone()
    db.execute("update ledger set until = '2026-11-21 00:00:00.000000' where id = ?", last)
    first = db.execute("select min(entry_id) from baselines where until is not null").fetchone()
    for table, key in (("baselines", "entry_id"), ("ledger", "id")):
        db.execute(f"update {table} set until = '2026-11-21 00:00:00.000000' where {key} = ?", first)
END

print_to printed/regressions regressions
print_to printed/regressions regressions --all --json
print_to printed/ledger ledger --last 100
print_to printed/finds finds
print_to printed/finds finds 1 --scene
print_to printed/comparisons results comparisons
print_to printed/comparisons results comparisons 1
for scene in stack:n=3 newtons-cradle overlapped-start; do
    print_to printed/history history $scene --engine toy.Solver
    print_to printed/show show $scene --no-open --html shown.html
done
upright results export out/export.csv > /dev/null && gzip -9n out/export.csv
upright schema > out/schema.json
"$python" "$here"/dump.py history.db out/tables.json.gz
"$python" -c "import sqlite3; sqlite3.connect('history.db').execute('pragma wal_checkpoint(truncate)')"
"$python" -c "import sqlite3; db = sqlite3.connect('history.db'); db.execute('pragma journal_mode=delete'); db.execute('vacuum')"
gzip -9nc history.db > out/history.db.gz

# scenes, one of each feature
i=0
for words in upright-block:start=tilt ball-with-drag incline-throw newtons-cradle cradle-in-touch:order=simultaneous \
    single-impact:law=stronge pair-at-rest:upper=capsule,lower=cylinder pair-at-rest:upper=mesh,lower=mesh \
    pair-at-rest:upper=ellipsoid,lower=plane double-pendulum four-bar four-bar:space=spatial slider-crank \
    slider-crank:space=spatial andrews heavy-top sphere-in-sphere sphere-in-sphere:space=spatial pile:n=4 \
    free-tumble compliant-cradle rolling-balls; do
    upright scenarios $words --json > out/scenes/"$(echo $words | tr ':=,' '-')".json
done
"$python" - <<'END' > out/scenes/hashes.json
import json
from pathlib import Path
from scenarios.scene import content_hash, read_scene
print(json.dumps({p.name: content_hash(read_scene(p)) for p in sorted(Path("out/scenes").glob("*.json")) if p.stat().st_size}, indent=1))
END
