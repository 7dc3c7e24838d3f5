"""Processes killed (SIGKILL) at random times while `upright run` runs: is anything lost, doubled or half written?

    python -P ci/benchmarks/kills.py [--count 1000] [--seed 1] [--postgresql]

Killed are simulations, engines' servers, the process that measures, the command itself, and a writer that stores result
after result in a database of its own; with `--postgresql`, on a server of the benchmark's own, also the server's
connections and processes, and it is stopped and started (`pg_ctl stop -m immediate`). A command that was killed is gone
on with (`run --resume`), and killed again; each round ends with one that is not.

Asked is, after each kill of a command or a writer: what was seen stored, or reported as stored, is there and the same;
every case that is done has its measurements and its motion, every other one none; nothing is there twice; no process
is left. At the end of each round: `PRAGMA integrity_check` (or amcheck's) finds nothing; every run is finished, with
the results of a run that nobody disturbed; no file is left but the databases. A case whose simulation is killed three
times is stored as crashed by that: those are counted, and may be at most a third of the kills of simulations. A server,
and the planning of an engine's cases, is killed at most twice in a command: a third time is reported as their fault.
"""

import argparse
import contextlib
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent))
import psutil
import sqlalchemy as sa
from measuring import Table

from tests.validation.store import made
from tests.validation.store.postgresql import Server, own_server
from validation.engines.shared.lifeline import die_with_parent
from validation.running.processes.family import environment_has
from validation.running.provenance import describe_run
from validation.store import Store, open_store
from validation.store.errors import StoreError

COMMAND = [sys.executable, "-P", "-c", "from validation.cli import main; main()"]
CASES = [*(f"stack:n={n}" for n in range(2, 16)), "bouncing-ball", "pendulum", "slide-to-roll", "upright-block"]
ENGINES = ["--engine", "pymunk", "--engine", "box2d"]
ROUND = 50  # kills
EVERY = 0.1  # s from one kill to the next, on average
SOON = 15.0  # s for processes to be gone
RECOVERED = 120.0  # s for a server to be there again
MARK = "UPRIGHT_KILLS"
SHARES = {"simulation": 0.34, "engine server": 0.12, "measuring": 0.1, "writer": 0.44}  # of the kills
SERVER_SHARES = {"connection": 0.2, "database process": 0.04, "database restart": 0.03}
TWICE = 2
KILLED_COMMANDS = 0.8  # the others end by themselves
BATCH = 40  # cases of a writer's run
CHECKS = {
    "done without values or motion": "SELECT count(*) FROM cases c WHERE outcome = 'completed' AND (trajectory_key IS "
    "NULL OR NOT EXISTS (SELECT 1 FROM measurements m WHERE m.case_id = c.id) OR NOT EXISTS (SELECT 1 FROM "
    "trajectories t WHERE t.key = c.trajectory_key))",
    "values of what is not done": "SELECT count(*) FROM cases c JOIN measurements m ON m.case_id = c.id "
    "WHERE outcome IS NULL",
    "runs finished with cases that are not done or not judged": "SELECT count(*) FROM cases c JOIN runs r ON r.id = "
    "c.run_id LEFT JOIN verdicts v ON v.case_id = c.id WHERE r.finished IS NOT NULL AND (c.outcome IS NULL OR "
    "v.case_id IS NULL) AND r.command != 'writer'",
    "doubled cases": "SELECT count(*) FROM (SELECT 1 FROM cases GROUP BY run_id, key HAVING count(*) > 1) d",
}
DONE = "SELECT run_id, key, outcome, reason, trajectory_hash FROM cases WHERE outcome IS NOT NULL"
VALUES = "SELECT c.run_id, c.key, m.metric, m.value FROM measurements m JOIN cases c ON c.id = m.case_id"

Found = dict[tuple[int, str], tuple[Any, ...]]


def stored(connection: sa.Connection) -> Found:
    """By run and case: outcome, reason, hash of the motion, values of all metrics."""
    values: dict[tuple[int, str], dict[str, float]] = {}
    for run, key, metric, value in connection.exec_driver_sql(VALUES):
        values.setdefault((run, key), {})[metric] = value
    rows = connection.exec_driver_sql(DONE)
    return {(run, key): (*rest, values.get((run, key), {})) for run, key, *rest in rows}


@dataclass
class Database:
    url: str  # as for --db
    seen: Found = field(default_factory=dict)

    @contextlib.contextmanager
    def opened(self) -> Iterator[sa.Connection]:
        """A server that recovers is waited for."""
        local = self.url if "://" in self.url else f"sqlite:///{self.url}"
        engine = sa.create_engine(local.replace("postgresql:", "postgresql+psycopg:"), poolclass=sa.NullPool)
        deadline = time.monotonic() + RECOVERED
        while True:
            try:
                connection = engine.connect()
                break
            except sa.exc.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        with connection:
            yield connection

    def faults(self, *, whole: bool = False) -> list[str]:
        """What is wrong with what is stored; `whole`: also page by page."""
        with self.opened() as connection:
            if not sa.inspect(connection).has_table("verdict_groups"):
                return ["no tables, where results were stored"] if self.seen else []
            found = [f"{count} {what}" for what, query in CHECKS.items() if (count := scalar(connection, query))]
            now = stored(connection)
            lost = [key for key, was in self.seen.items() if now.get(key) != was]
            found += [f"{len(lost)} that were stored are lost or changed"] if lost else []
            self.seen |= now
            if whole and connection.dialect.name == "sqlite":
                found += [] if scalar(connection, "PRAGMA integrity_check") == "ok" else ["damaged"]
                found += ["alien keys"] if connection.exec_driver_sql("PRAGMA foreign_key_check").first() else []
            elif whole:
                connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS amcheck")
                connection.exec_driver_sql(
                    "SELECT bt_index_check(c.oid, true) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN "
                    "pg_am a ON a.oid = c.relam WHERE a.amname = 'btree' AND c.relpersistence = 'p'"
                ).all()
        return found

    def done(self) -> int:
        with self.opened() as connection:
            there = sa.inspect(connection).has_table("verdict_groups")
            return int(scalar(connection, "SELECT count(outcome) FROM cases")) if there else 0

    def unfinished(self) -> bool:
        with self.opened() as connection:
            return sa.inspect(connection).has_table("verdict_groups") and bool(
                scalar(connection, "SELECT count(*) FROM runs WHERE finished IS NULL")
            )


def scalar(connection: sa.Connection, query: str) -> Any:
    return connection.exec_driver_sql(query).scalar()


# --- what is killed -----------------------------------------------------------------------------------------------


class Writer:
    """A process that stores results one by one, and reports each when it is stored."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.start()

    def start(self) -> None:
        self.reports, ours = os.pipe()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                die_with_parent(parent)
                os.close(self.reports)
                self.write(ours)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)
        os.close(ours)

    def write(self, reports: int) -> None:
        info = describe_run("writer")
        with there(self.url) as store:
            while True:
                cases = [made.case(parameters={"n": n}) for n in range(BATCH)]
                run = store.begin_run(info, cases)
                for n, case in enumerate(cases):
                    one = made.result(
                        case, made.measurement("m", run + n / BATCH), trajectory=made.falling(samples=60 + n)
                    )
                    store.save_results(run, [one])
                    os.write(reports, f"{run} {one.key} {run + n / BATCH!r}\n".encode())
                    time.sleep(0.01)
                store.finish_run(run)

    def kill(self, database: Database) -> list[str]:
        """And begin anew; what is wrong."""
        os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        with os.fdopen(self.reports) as lines:
            reported = [line.split() for line in lines.read().splitlines()]
        found = [] if os.WTERMSIG(status) == signal.SIGKILL else [f"the writer ended by itself ({status})"]
        found += database.faults()
        missing = [r for r in reported if database.seen.get((int(r[0]), r[1]), ("",))[-1] != {"m": float(r[2])}]
        return found + ([f"{len(missing)} that the writer reported are not stored"] if missing else [])


def there(url: str) -> Store:
    """Also of a server that is being restarted."""
    deadline = time.monotonic() + SOON
    while True:
        try:
            return open_store(url)
        except StoreError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


@dataclass
class Killing:
    folder: Path
    chance: random.Random
    whole: Found  # of a run that nobody disturbs, by case
    lasts: float  # s, of that
    server: Server | None
    killed: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    spared: Counter[str] = field(default_factory=Counter)  # of this command, and how often it was killed
    before: int = 0  # results, when it began
    blamed: int = 0  # cases that are stored as crashed by a kill

    def round(self, number: int, count: int) -> None:
        folder = self.folder / str(number)
        (folder / "tmp").mkdir(parents=True)
        names = [f"round_{number}", f"writer_{number}"]
        if self.server:
            for name in names:
                self.server.psql(f"CREATE DATABASE {name}")
            runs, writes = (Database(self.server.url(name)) for name in names)
        else:
            runs, writes = (Database(str(folder / f"{name}.db")) for name in names)
        open_store(writes.url).close()
        self.killed_before = sum(self.killed.values())
        writer = Writer(writes.url)
        while (left := count - self.done()) > 0:
            self.command(folder, runs, writes, writer, left)
        self.note("writer", writer.kill(writes))
        while runs.unfinished():
            process = self.start(folder, runs)
            _, errors = process.communicate(timeout=600)
            self.ended["undisturbed"] += 1
            if process.returncode:
                self.note("undisturbed", [f"exit {process.returncode}: {errors.strip()[-300:]}"])
                break
        open_store(writes.url).close()  # as the next command does, after a writer that was killed
        self.note("end of the round", [*runs.faults(whole=True), *writes.faults(whole=True), *self.other(runs)])
        left_over = sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())
        databases = [] if self.server else sorted(Path(one.url).name for one in (runs, writes))
        self.note("files", [] if left_over == databases else [f"left over: {left_over}"])

    def done(self) -> int:
        return sum(self.killed.values()) - self.killed_before

    def note(self, where: str, found: list[str]) -> None:
        for fault in found:
            self.wrong.append(f"{where}: {fault}")
            print(f"  {where}: {fault}", flush=True)

    def start(self, folder: Path, runs: Database) -> subprocess.Popen[str]:
        words = ["run", "--resume"] if runs.unfinished() else ["run", *CASES, *ENGINES, "--fresh"]
        self.ended["resumed" if words[1] == "--resume" else "begun"] += 1
        return subprocess.Popen(
            [*COMMAND, *words, "--db", runs.url],
            cwd=folder,
            env=os.environ | {MARK: str(self.folder), "TMPDIR": str(folder / "tmp")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def command(self, folder: Path, runs: Database, writes: Database, writer: Writer, left: int) -> None:
        """One, from its start to where it ends or is killed."""
        process = self.start(folder, runs)
        self.spared, self.before = Counter[str](), runs.done()
        killed = self.chance.random() < KILLED_COMMANDS
        until = time.monotonic() + (self.chance.uniform(0.0, self.lasts) if killed else math.inf)
        while process.poll() is None and left > 0:
            time.sleep(self.chance.expovariate(1.0 / EVERY))
            if time.monotonic() > until and process.poll() is None:
                process.kill()
                self.killed["command"] += 1
                break
            left -= self.kill_one(process.pid, runs, writes, writer)
        _, errors = process.communicate(timeout=600)
        if self.server and process.returncode == 2 and "cannot reach the database" in errors:
            self.ended["found no server"] += 1  # as it is restarted, before anything was run
        elif process.returncode not in (0, -signal.SIGKILL):
            self.note("command", [f"exit {process.returncode}: {errors.strip()[-300:]}"])
        self.note("command", ["a traceback"] if "Traceback" in errors else [])
        self.ended["ended by itself"] += process.returncode == 0
        deadline = time.monotonic() + SOON
        while (processes := self.marked()) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.note("command", [f"{len(processes)} processes left"] if processes else [])
        self.note("command", runs.faults())

    def marked(self) -> list[int]:
        """Processes of commands, whatever they have detached themselves from."""
        return [pid for pid in psutil.pids() if environment_has(pid, MARK, str(self.folder))]

    def kill_one(self, command: int, runs: Database, writes: Database, writer: Writer) -> int:
        """How many it were: none where there is none of the kind."""
        shares = SHARES | (SERVER_SHARES if self.server else {})
        kills = sum(self.killed.values())
        behind = [max(0.02, share * (kills + 5) - self.killed[kind]) for kind, share in shares.items()]
        [kind] = self.chance.choices(list(shares), behind)
        if kind == "writer":
            self.note(kind, writer.kill(writes))
            writer.start()
        elif kind in SERVER_SHARES:
            if not self.kill_of_server(kind):
                return 0
        else:
            with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
                found = [
                    one
                    for one in processes_of(command)[kind]
                    if self.spared[one[1]] < TWICE or (runs.done() > self.before and kind == "simulation")
                ]
                if found:
                    pid, what = self.chance.choice(found)
                    os.kill(pid, signal.SIGKILL)
                    self.spared[what] += kind != "simulation" or runs.done() == self.before
                    self.killed[kind] += 1
                    return 1
            return 0
        self.killed[kind] += 1
        return 1

    def kill_of_server(self, kind: str) -> bool:
        assert self.server
        if kind == "database restart":
            self.server.stop()
            self.server.start()
            return True
        try:
            processes = self.server.psql("SELECT pid FROM pg_stat_activity WHERE datname ~ '^(round|writer)_'").split()
            if not processes:
                return False
            pid = self.chance.choice(processes)
            if kind == "connection":
                self.server.psql(f"SELECT pg_terminate_backend({pid})")
            else:
                os.kill(int(pid), signal.SIGKILL)
        except (subprocess.CalledProcessError, ProcessLookupError):  # it recovers still, or has ended meanwhile
            return False
        return True

    def other(self, runs: Database) -> list[str]:
        """Results of finished runs that are not those of the undisturbed one."""
        other: Counter[str] = Counter()
        for (_, key), found in runs.seen.items():
            if found[0] == "crashed" and "SIGKILL" in found[1]:
                self.blamed += 1
            elif found != self.whole[0, key]:
                other[f"{found[0]} {found[1]}"] += 1
        return [f"{count} other results: {what}" for what, count in other.items()]


def processes_of(command: int) -> dict[str, list[tuple[int, str]]]:
    """With what each is for."""
    found: dict[str, list[tuple[int, str]]] = {"engine server": [], "measuring": [], "simulation": []}
    for server in psutil.Process(command).children():
        with contextlib.suppress(psutil.NoSuchProcess):
            words = " ".join(server.cmdline())
            if "measure_server" in words:
                found["measuring"].append((server.pid, "measuring"))
            elif "fork_server" in words:
                word = server.cmdline()[-3]
                found["engine server"].append((server.pid, word))
                found["simulation"] += [(child.pid, f"planning of {word}") for child in server.children()]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--postgresql", action="store_true")
    given = parser.parse_args()
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(own_server()) if given.postgresql else None
        first = Database(str(folder / "undisturbed.db"))
        killing = Killing(folder, random.Random(given.seed), {}, 0.0, server)
        (folder / "tmp").mkdir()
        process = killing.start(folder, first)
        started = time.monotonic()
        _, errors = process.communicate(timeout=600)
        killing.lasts = time.monotonic() - started
        if process.returncode or first.faults():
            raise SystemExit(f"the undisturbed run: exit {process.returncode}: {errors}")
        killing.whole = {(0, key): found for (_, key), found in first.seen.items()}
        for number in range(-(-given.count // ROUND)):
            killing.round(number, min(ROUND, given.count - number * ROUND))
    table = Table("killed:<18s", "times:>6d")
    for kind, count in killing.killed.items():
        table.row(kind, count)
    kills, simulations = sum(killing.killed.values()), killing.killed["simulation"]
    table.row("in all", kills)
    table = Table("commands:<18s", "times:>6d")
    for kind, count in killing.ended.items():
        table.row(kind, count)
    if 3 * killing.blamed > simulations:
        killing.wrong.append(f"{killing.blamed} cases stored as crashed by {simulations} kills")
    minutes = (time.monotonic() - began) / 60.0
    print(f"{killing.blamed} cases killed three times, and stored so; {minutes:.1f} min")
    print(f"{len(killing.wrong)} things wrong after {kills} kills (target: 0)")
    raise SystemExit(1 if killing.wrong else 0)


if __name__ == "__main__":
    main()
