"""Cases on a Dask cluster: the bits of local processes, whatever dies, and a clear line where that cannot be."""

from __future__ import annotations

import importlib.metadata
import platform
import signal
import socket
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import psutil
import pytest

from tests.validation import wheels
from tests.validation.cluster import Cluster, cluster
from tests.validation.command import call, start, upright_process
from validation.engines import engine_of
from validation.running import executors
from validation.running.cluster import identity
from validation.running.cluster.address import ExecutorError, address_of
from validation.running.cluster.identity import differing
from validation.running.kernel_cache import cache_root

CASES = ("stack:n=3", "bouncing-ball", "pendulum", "free-tumble", "stack:n=5,mass_ratio=100")
ENGINES = ("--engine", "pymunk", "--engine", "box2d", "--engine", "mujoco")
RUN = ("run", *CASES, *ENGINES, "--fresh", "--ensemble", "10", "--order")
VALUES = (
    "SELECT c.key, c.outcome, c.trajectory_hash, m.metric, m.value FROM cases c "
    "LEFT JOIN measurements m ON m.case_id = c.id WHERE c.run_id = ? ORDER BY 1, 4"
)


def values(database: Path, run: int = 1) -> list[tuple[object, ...]]:
    with sqlite3.connect(database) as connection:
        return list(connection.execute(VALUES, [run]))


# --- addresses and refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "as_dask_has_it"),
    [
        ("dask://cluster:8786", "tcp://cluster:8786"),
        ("dask://10.0.0.1", "tcp://10.0.0.1:8786"),
        ("dask://[::1]:9", "tcp://[::1]:9"),
        ("tls://cluster:8786", "tls://cluster:8786"),
    ],
)
def test_an_address_is_one_of_a_dask_scheduler(given: str, as_dask_has_it: str) -> None:
    assert address_of(given) == as_dask_has_it


@pytest.mark.parametrize(
    "given",
    [
        "cluster:8786",
        "dask://",
        "dask://:8786",
        "tcp://a:1",
        "dask://a:99999",
        "dask://a:x",
        "dask://[::1",
        "dask://a b",
    ],
)
def test_what_is_no_address_is_named(given: str) -> None:
    with pytest.raises(ExecutorError) as error:
        address_of(given)
    assert str(error.value).startswith(f"--executor: {given!r}") and "allowed: local, dask://HOST:PORT" in str(
        error.value
    )


def test_a_password_in_an_address_is_refused_and_not_shown() -> None:
    with pytest.raises(ExecutorError) as error:
        address_of("dask://me:secret@cluster:8786")
    assert "more than a host and a port" in str(error.value) and "secret" not in str(error.value)


def test_without_dask_what_to_install_is_named() -> None:
    with mock.patch("importlib.util.find_spec", return_value=None), pytest.raises(ExecutorError) as error:
        address_of("dask://cluster")
    assert "pip install 'upright[dask]'" in str(error.value)


@pytest.mark.parametrize("command", ["run", "check", "ci"])
def test_times_are_not_taken_on_a_cluster(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [command, "bouncing-ball", "-e", "pymunk", "--timing", "--executor", "dask://nowhere:1"]
    status, _, err = call(monkeypatch, capsys, *words)
    assert status == 2 and "times of other machines do not compare" in err and err.count("\n") == 1


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Nobody listens there; or somebody does who says nothing."""
    pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("validation.running.cluster.pool.CONNECT_LIMIT", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        open_port = silent.getsockname()[1]
        for port in (1, open_port):
            words = ["run", "bouncing-ball", "-e", "pymunk", "--executor", f"dask://127.0.0.1:{port}"]
            status, _, err = call(monkeypatch, capsys, *words)
            assert status == 2 and err == f"no Dask scheduler answers at tcp://127.0.0.1:{port} within 1 s\n"


def test_processes_of_this_machine_are_not_counted_for_a_cluster(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    status, _, err = call(monkeypatch, capsys, "run", "--workers", "3", "--executor", "dask://nowhere:1")
    assert status == 2 and "--workers is of this machine" in err
    status, _, err = call(
        monkeypatch, capsys, "bisect", "a", "b", "--case", "stack", "-e", "pymunk", "--executor", "dask://nowhere:1"
    )
    assert status == 2 and "commits are built and run on this machine" in err


def test_what_differs_on_a_worker_is_named_with_both_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package, or a user's engine whose file is another one."""
    assert differing({"numpy": "2.0"}, {"numpy": "2.0"}) == ""
    assert differing({"numpy": "2.0"}, {"numpy": "2.1"}) == "numpy: 2.1 there, 2.0 here"
    assert differing({"numpy": "2.0"}, {}) == "numpy: none there, 2.0 here"
    monkeypatch.chdir(tmp_path)
    found = []
    for text in ("class Mine: pass\n", "class Mine: 0\n"):
        Path("my_engine.py").write_text(text, encoding="utf-8")
        found.append(identity.engine_identity(engine_of("my_engine.Mine")))
    assert "my_engine.Mine" in differing(*found)
    released = identity.engine_identity(engine_of("pymunk"))
    assert importlib.metadata.version("pymunk") in released["pymunk"] and identity.is_released("pymunk")
    assert not identity.is_released("my_engine.Mine")


def test_local_processes_are_the_default() -> None:
    with executors.executor_at("local") as pool:
        assert not pool.elsewhere and pool.at_once(3) == 3


# --- with processes ---------------------------------------------------------------------------------------------------

PLUGINS = Path(__file__).parents[2] / "plugins"
BROKEN = ("stack:n=3", "--engine", "broken:fault=hang,patience=60")


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """They have the engine that breaks on purpose, too, and so has who asks them."""
    pytest.importorskip("distributed")
    with cluster(tmp_path_factory.mktemp("cluster"), 2, PYTHONPATH=str(PLUGINS)) as made:
        yield made


@pytest.fixture(scope="module")
def by_local_processes(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[object, ...]]:
    folder = tmp_path_factory.mktemp("local")
    done = upright_process(*RUN, folder=folder, UPRIGHT_DB="here.db")
    assert done.returncode == 0, done.stderr
    return values(folder / "here.db")


@pytest.mark.slow
def test_the_bits_are_those_of_local_processes(
    two_workers: Cluster, by_local_processes: list[tuple[object, ...]], tmp_path: Path
) -> None:
    """Also of ensembles and of smaller time steps, whose orders are among the values."""
    done = upright_process(*RUN, folder=tmp_path, UPRIGHT_DB="x.db", UPRIGHT_EXECUTOR=two_workers.address)
    assert done.returncode == 0, done.stderr
    assert values(tmp_path / "x.db") == by_local_processes != []


@pytest.mark.slow
def test_engines_break_there_as_they_break_here(two_workers: Cluster, tmp_path: Path) -> None:
    """The limits of time and memory are those of the simulation, wherever it runs."""
    faults = ("segfault", "hang", "memory", "nan", "raise", "exit", "daemon")
    engines = [word for fault in faults for word in ("--engine", f"broken:fault={fault}")]
    words = ["run", "bouncing-ball", *engines, "--fresh", "--time-limit", "2", "--memory-limit", "160"]
    for database, executor in (("here.db", "local"), ("there.db", two_workers.address)):
        done = upright_process(
            *words, folder=tmp_path, UPRIGHT_DB=database, UPRIGHT_EXECUTOR=executor, PYTHONPATH=str(PLUGINS)
        )
        assert done.returncode == 0, done.stderr
    outcomes = "SELECT engine_label, outcome FROM cases ORDER BY 1"
    found = []
    for database in ("here.db", "there.db"):
        with sqlite3.connect(tmp_path / database) as connection:
            found.append(list(connection.execute(outcomes)))
    assert found[0] == found[1] and len({outcome for _, outcome in found[0]}) >= 4
    wait_until(lambda: not simulations(two_workers), "what a simulation has started is left over")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_command_leaves_nothing_in_the_workers(
    number: signal.Signals, two_workers: Cluster, tmp_path: Path, interruptible: None
) -> None:
    process = start(["run", *BROKEN, "--executor", two_workers.address, "--fresh"], tmp_path, PYTHONPATH=str(PLUGINS))
    wait_until(lambda: bool(simulations(two_workers)), "nothing is simulated")
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "0 of 1 cases are stored as run 1" in err and "upright run --resume" in err and "Traceback" not in err
    wait_until(lambda: not simulations(two_workers), "a simulation goes on")


@pytest.mark.slow
def test_a_users_engine_has_to_be_there_and_the_same(two_workers: Cluster, tmp_path: Path) -> None:
    (tmp_path / "my_engine.py").write_text(wheels.toy("0.1"), encoding="utf-8")
    words = ["run", "upright-block", "--engine", "my_engine.Toy", "--executor", two_workers.address]
    lacking = upright_process(*words, folder=tmp_path)
    assert lacking.returncode == 2 and lacking.stderr.count("\n") == 1
    assert "cannot run my_engine.Toy" in lacking.stderr and "no module 'my_engine' is installed" in lacking.stderr
    there = two_workers.folder / "my_engine.py"
    there.write_text(wheels.toy("0.2"), encoding="utf-8")
    other = upright_process(*words, folder=tmp_path)
    assert other.returncode == 2 and "differs: my_engine.Toy: code" in other.stderr
    there.write_text(wheels.toy("0.1"), encoding="utf-8")
    same = upright_process(*words, folder=tmp_path)
    assert same.returncode == 0, same.stderr


@pytest.mark.slow
def test_releases_get_their_environments_on_the_workers(tmp_path: Path) -> None:
    """Compared as they are here: 5 cm/s is 1 m in the 20 s of the scene."""
    pytest.importorskip("distributed")
    (tmp_path / "shelf").mkdir()
    for version, speed in (("1.2", 0.05), ("1.10", 0.0)):
        wheels.wheel(tmp_path / "shelf", version, speed)
    site = wheels.installed(tmp_path / "site", "1.0", 0.05)
    shelf = {**wheels.from_wheels(tmp_path / "shelf"), "PYTHONPATH": str(site)}
    for side in ("here", "there"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "kernels").symlink_to(cache_root() / "kernels")
    caches = {side: {**shelf, "UPRIGHT_CACHE": str(tmp_path / side)} for side in ("here", "there")}
    with cluster(tmp_path, 1, **caches["there"]) as made:
        words = ["compare", "toy==1.2", "toy==1.10", "upright-block", "--executor", made.address]
        done = upright_process(*words, folder=tmp_path, **caches["here"])
    assert done.returncode == 0, done.stderr
    assert "1 better" in done.stdout
    made_there = {file.name for file in (tmp_path / "there" / "environments").iterdir()}
    tag = sys.implementation.cache_tag
    assert {f"toy-engine-1.10-{tag}", f"toy-engine-1.2-{tag}"} <= made_there


@pytest.mark.slow
def test_workers_and_schedulers_that_die_lose_nothing(
    by_local_processes: list[tuple[object, ...]], tmp_path: Path
) -> None:
    """A worker is killed every few seconds, and once the scheduler; each case counts once, with its own bits."""
    pytest.importorskip("distributed")
    with cluster(tmp_path, 2) as made:
        process = start([*RUN, "--executor", made.address], tmp_path, UPRIGHT_DB="x.db")
        database = tmp_path / "x.db"
        for turn in range(1, 4):
            wait_until(
                lambda turn=turn: process.poll() is not None or done_of(database) >= 3 * turn, "nothing is stored"
            )
            made.kill("scheduler" if turn == 2 else made.workers()[turn % 2])
        _, err = process.communicate(timeout=300)
    assert process.returncode == 0 and "Traceback" not in err, err
    assert values(database) == by_local_processes


@pytest.mark.slow
def test_a_worker_takes_its_servers_along(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    with cluster(tmp_path, 1) as made:
        done = upright_process("run", "bouncing-ball", "-e", "pymunk", "--executor", made.address, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        servers = made.servers()
        assert len(servers) >= 2, "the engine's and the one that measures are warm"
        made.kill(made.workers()[0])
        _, left = psutil.wait_procs(servers, timeout=10)
    assert left == []


@pytest.mark.slow
def test_a_scheduler_that_does_not_come_back_is_a_line_that_says_how_to_go_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    by_local_processes: list[tuple[object, ...]],
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("validation.running.cluster.pool.LOST_LIMIT", 2.0)
    with cluster(tmp_path, 1) as made:

        def end_the_cluster() -> None:
            wait_until(lambda: done_of(tmp_path / "upright.db") >= 3, "nothing is stored")
            made.end()

        ending = threading.Thread(target=end_the_cluster)
        ending.start()
        status, _, err = call(monkeypatch, capsys, "run", *CASES, *ENGINES, "--fresh", "--executor", made.address)
        ending.join()
    assert status == 2
    assert "was lost and was not back within 2 s" in err and "cases are stored as run 1" in err
    assert "Go on: upright run --resume" in err and "Traceback" not in err
    status, _, err = call(monkeypatch, capsys, "run", "--resume")
    assert status == 0, err
    without_orders = [row for row in by_local_processes if row[3] != "convergence_order"]
    assert values(tmp_path / "upright.db") == without_orders


WAITS = wheels.toy("0.1").replace("import numpy", "import time; time.sleep(4.0)\n        import numpy")
OTHER_PROCESSOR = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F"}


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors have other features to switch off")
def test_a_worker_whose_processor_gives_other_bits_ends_the_run_in_a_line(tmp_path: Path) -> None:
    """Where it joins while cases run, what is stored stays; where it is there from the start, nothing runs."""
    pytest.importorskip("distributed")
    (tmp_path / "my_engine.py").write_text(WAITS, encoding="utf-8")
    labels = [f"stack:n={count}" for count in range(2, 22)]
    words = ["run", *labels, "-e", "my_engine.Toy", "--fresh"]
    with cluster(tmp_path, 1) as made:
        process = start([*words, "--executor", made.address], tmp_path)
        wait_until(lambda: done_of(tmp_path / "upright.db") >= 1, "nothing is stored")
        made.add_worker(**OTHER_PROCESSOR)
        _, err = process.communicate(timeout=200)
        assert process.returncode == 2 and "a worker that came later is another: processor: " in err
        assert "cases are stored as run 1" in err and "Go on: upright run --resume" in err
        again = upright_process(*words, "--executor", made.address, folder=tmp_path)
        assert again.returncode == 2 and "differs in my_engine.Toy: processor: " in again.stderr
    assert done_of(tmp_path / "upright.db") < len(labels)


KILLER = """
import os, signal
from pathlib import Path
from my_engine import Toy

class Killer(Toy):
    name = "killer"

    def simulate(self, scene, dt, settings):
        server = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()
        os.kill(int(server[1]), signal.SIGKILL)  # whatever has started the server: the worker
        return super().simulate(scene, dt, settings)
"""


@pytest.mark.slow
def test_a_case_by_which_workers_die_is_given_up_and_the_others_are_not(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    (tmp_path / "my_engine.py").write_text(wheels.toy("0.1"), encoding="utf-8")
    (tmp_path / "killer.py").write_text(KILLER, encoding="utf-8")
    with cluster(tmp_path, 1) as made:
        words = ["run", "bouncing-ball", "-e", "pymunk", "-e", "killer.Killer", "--executor", made.address, "--fresh"]
        done = upright_process(*words, folder=tmp_path)
        assert done.returncode == 0, done.stderr
    with sqlite3.connect(tmp_path / "upright.db") as connection:
        found = dict(connection.execute("SELECT engine, outcome FROM cases"))
        [reason] = connection.execute("SELECT reason FROM cases WHERE engine = 'killer.Killer'").fetchone()
    assert found == {"pymunk": "completed", "killer.Killer": "crashed"}
    assert reason.startswith("4 workers died while they ran it, the last at tcp://127.0.0.1:")


@pytest.mark.slow
def test_laws_are_searched_for_on_a_cluster(two_workers: Cluster, tmp_path: Path) -> None:
    """An engine that gains energy where two bodies meet."""
    words = ["fuzz", "--engine", "broken:fault=gain", "--seed", "1", "--minutes", "0.5"]
    done = upright_process(*words, folder=tmp_path, UPRIGHT_EXECUTOR=two_workers.address, PYTHONPATH=str(PLUGINS))
    assert done.returncode == 1 and "energy" in done.stdout, done.stderr + done.stdout
    again = upright_process("finds", "1", "--replay", folder=tmp_path, PYTHONPATH=str(PLUGINS))
    assert again.returncode == 1, again.stderr


def simulations(made: Cluster) -> list[psutil.Process]:
    """Children of the engines' servers, and what they have started."""
    servers = [one for one in made.servers() if "fork_server" in " ".join(command_of(one))]
    own = {one.pid for one in servers}
    return [one for one in servers if one.ppid() in own]


def command_of(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def done_of(database: Path) -> int:
    if not database.exists():
        return 0
    try:
        with sqlite3.connect(database) as connection:
            return int(connection.execute("SELECT count(*) FROM cases WHERE outcome IS NOT NULL").fetchone()[0])
    except sqlite3.OperationalError:  # no table yet, or locked
        return 0


def wait_until(condition: Callable[[], bool], otherwise: str, limit: float = 120.0) -> None:
    deadline = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.1)
