"""An engine may crash, hang, eat memory or return nonsense: that is its outcome, and nobody else's affair."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from scenarios.catalogue import scenario_of
from tests.effort import few
from tests.validation.command import kept_servers
from validation import engines
from validation.engines import engine_of
from validation.records.case import Result
from validation.records.trajectory import first_not_finite, from_bytes
from validation.running.planning import Request, plan_cases
from validation.running.processes import pool
from validation.running.processes.executor import Reply
from validation.running.processes.family import KERNEL_LISTS_CHILDREN, children_of, kill, resident, resident_once
from validation.running.processes.pool import ATTEMPTS, Pool, own
from validation.running.processes.processor import left_alone
from validation.running.runner import Limits, ask_unplanned, execute, measuring_remotes, simulation_of

PLUGINS = Path(__file__).parents[2] / "plugins"
PLANAR = ("free-tumble:space=planar", "bouncing-ball", "stack:n=3")
LIMITS = Limits(workers=2, time_limit=3.0, memory_limit=160 * 2**20)
SOON = replace(LIMITS, time_limit=1.0)  # for engines that only wait


@pytest.fixture(autouse=True)
def servers() -> Iterator[None]:
    with kept_servers():
        yield


@pytest.fixture
def broken_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The deliberately broken engine, registered through the entry-point group like any user's."""
    monkeypatch.syspath_prepend(str(PLUGINS))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(PLUGINS), *filter(None, [os.environ.get("PYTHONPATH")])]))
    engines._registered.cache_clear()
    yield
    engines._registered.cache_clear()


def run(words: list[str], scenario: str = "upright-block:start=drop", limits: Limits = LIMITS) -> dict[str, Result]:
    results: dict[str, Result] = {}
    with Pool() as pool:
        requests = [Request(scenario=scenario_of(scenario), engine=engine_of(word)) for word in words]
        execute(pool, plan_cases(pool, requests), limits, lambda r: results.update({r.case.engine_label: r}))
    return results


@pytest.mark.usefixtures("broken_engine")
@pytest.mark.slow
def test_four_ways_to_break_are_four_outcomes_and_the_others_complete() -> None:
    results = run(
        ["broken:fault=segfault", "broken:fault=hang", "broken:fault=memory", "broken:fault=nan", "broken", "pymunk"]
    )
    outcomes = {word: result.outcome for word, result in results.items()}
    assert outcomes == {
        "broken:fault=segfault": "crashed",
        "broken:fault=hang": "timed_out",
        "broken:fault=memory": "out_of_memory",
        "broken:fault=nan": "not_finite",
        "broken": "completed",
        "pymunk": "completed",
    }
    reasons = {word: result.reason for word, result in results.items()}
    assert "SIGSEGV" in reasons["broken:fault=segfault"]
    assert "3 s" in reasons["broken:fault=hang"]
    assert "160 MiB" in reasons["broken:fault=memory"]
    assert "'block'" in reasons["broken:fault=nan"]
    assert results["pymunk"].measurements
    assert not results["broken:fault=nan"].measurements


@pytest.mark.usefixtures("broken_engine")
@pytest.mark.parametrize("fault", ["nan", "stops"])
def test_what_broke_has_its_finite_section_to_be_shown_and_no_hash_to_be_compared_by(fault: str) -> None:
    [result] = run([f"broken:fault={fault}"], "bouncing-ball").values()
    assert result.trajectory is None and result.trajectory_hash == "" and not result.measurements
    part = from_bytes(result.encoded)
    assert len(part.time) > 10 and first_not_finite(part) is None


@pytest.mark.usefixtures("broken_engine")
@pytest.mark.parametrize(("fault", "busy"), [("hang", False), ("memory", True)])
def test_what_was_ended_says_how_much_of_a_core_it_had(fault: str, busy: bool) -> None:
    request = Request(scenario=scenario_of("upright-block"), engine=engine_of(f"broken:fault={fault}"))
    limits = replace(LIMITS if busy else SOON, memory_limit=2**28)
    with Pool() as pool:
        asked = ask_unplanned(pool, request, "default", limits)
        [reply] = pool.wait()
    simulation = simulation_of(reply)
    assert reply.id == asked and simulation.outcome == ("out_of_memory" if busy else "timed_out")
    assert (simulation.cpu_share > 0.02) is busy


@pytest.mark.usefixtures("broken_engine")
def test_a_hang_that_holds_the_interpreter_is_ended_all_the_same() -> None:
    [result] = run(["broken:fault=hang-in-c"], limits=SOON).values()
    assert result.outcome == "timed_out"
    assert result.wall_time < 3.0


@pytest.mark.usefixtures("broken_engine")
def test_an_exception_an_exit_and_chatter_are_told_apart() -> None:
    results = run(["broken:fault=raise", "broken:fault=exit", "broken:fault=chatter"])
    assert results["broken:fault=raise"].reason == "ValueError: the contact graph has a cycle"
    assert "exit status 3" in results["broken:fault=exit"].reason
    assert results["broken:fault=chatter"].outcome == "completed"


@pytest.mark.usefixtures("broken_engine")
def test_half_a_motion_is_none() -> None:
    """Its end would be measured as if it were the scene's."""
    [result] = run(["broken:fault=stops"], "bouncing-ball").values()
    assert result.outcome == "crashed"
    assert result.reason == "its motion goes from 0 to 0.5 s; that of the scene from 0 to 10 s"


@pytest.mark.usefixtures("broken_engine")
def test_an_engine_that_fails_while_it_is_planned_loses_that_case_only() -> None:
    results: dict[str, Result] = {}
    with Pool() as pool:
        engine = engine_of("broken_engine.Confused")
        requests = [Request(scenario=scenario_of(word), engine=engine) for word in ("stack:n=3", "bouncing-ball")]
        execute(pool, plan_cases(pool, requests), LIMITS, lambda r: results.update({r.case.label: r}))
    failed = results["stack:n=3"]
    assert (failed.outcome, failed.reason) == ("crashed", "RuntimeError: no pair is known")
    assert results["bouncing-ball"].outcome == "completed"


def test_a_measuring_process_that_is_killed_is_started_again_and_in_the_end_not_called_an_engine() -> None:
    question = {"name": "bouncing-ball", "parameters": {}, "scene": None}
    with Pool() as pool:
        remote = pool.start_measuring()
        number = pool.ask(remote, question)
        replies: list[Reply] = []
        for kills in (1, ATTEMPTS):
            for _ in range(kills):
                killed = remote.process
                killed.kill()
                killed.wait()
                while remote.process is killed and not replies:
                    replies += pool.wait(10.0)
            while not replies:
                replies += pool.wait(10.0)
            [reply] = replies
            assert reply.id == number
            if kills == 1:
                assert "No such" not in reply.header["error"] and "Traceback" in reply.header["error"], "of no motion"
                remote.process.send_signal(signal.SIGSTOP)  # it is warm, and would answer before it is killed
                number = pool.ask(remote, question)
                replies.clear()
        assert reply.header["reason"] == "the server for measuring ended by SIGKILL"


@pytest.mark.usefixtures("broken_engine")
@pytest.mark.skipif(not KERNEL_LISTS_CHILDREN, reason="this kernel does not list children")
@pytest.mark.parametrize(("which",), few(1, [("server",), ("simulation",)]))
def test_a_case_whose_process_somebody_kills_is_simulated_again(which: str) -> None:
    """Once; it hangs for longer than that takes. What the server had detached is ended too."""
    before = {process.pid for process in psutil.process_iter()}
    killed: list[int] = []
    with Pool() as pool:
        requests = [
            Request(scenario=scenario_of("slide-to-roll"), engine=engine_of("broken:fault=lingers,patience=20.25"))
        ]
        plans = plan_cases(pool, requests)
        [remote] = [one for one in pool.remotes if one.what == "broken"]

        def kill() -> None:
            server = remote.process.pid
            while not (children := children_of(server)) or not any("20.25" in line for line in commands(before)):
                time.sleep(0.01)
            killed.append(server if which == "server" else children[0])
            os.kill(killed[0], signal.SIGKILL)

        killing = threading.Thread(target=kill)
        killing.start()
        results: list[Result] = []
        execute(pool, plans, LIMITS, results.append)
        killing.join()
        assert killed and (remote.process.pid != killed[0])
    assert [(result.outcome, len(result.measurements) > 0) for result in results] == [("completed", True)]
    assert eventually_gone(before, "20.25")


@pytest.mark.usefixtures("broken_engine")
@pytest.mark.skipif(not KERNEL_LISTS_CHILDREN, reason="this kernel does not list children")
@pytest.mark.slow
def test_a_simulation_that_is_started_again_has_the_rest_of_its_time_and_the_reason_names_the_limit() -> None:
    results: list[Result] = []
    with Pool() as pool:
        request = Request(scenario=scenario_of("slide-to-roll"), engine=engine_of("broken:fault=hang"))
        plans = plan_cases(pool, [request])
        [remote] = [one for one in pool.remotes if one.what == "broken"]

        def end_it() -> None:
            while not (children := children_of(remote.process.pid)):
                time.sleep(0.01)
            time.sleep(1.0)
            os.kill(children[0], signal.SIGKILL)

        killing = threading.Thread(target=end_it)
        killing.start()
        execute(pool, plans, LIMITS, results.append)
        killing.join()
    [result] = results
    assert (result.outcome, result.reason) == ("timed_out", "killed after 3 s, the limit of wall-clock time")
    assert result.wall_time < 2.9, "of the second attempt"


def test_a_server_that_is_killed_while_it_imports_is_started_again_so_often() -> None:
    with Pool() as pool:
        for kills in (1, ATTEMPTS):
            remote = pool._start("pymunk", own("validation.running.processes.fork_server"), "pymunk")
            for _ in range(kills):
                os.kill(remote.process.pid, signal.SIGKILL)
                remote.process.wait()
                list(pool.wait(10.0))
            pool.greet([remote])
            found = remote.hello and remote.hello.get("error")
            assert found == (None if kills == 1 else "the process that imports it ended by SIGKILL")


@pytest.mark.usefixtures("broken_engine")
@pytest.mark.parametrize(("fault", "patience"), few(1, [("emigrant", "776"), ("grandchild", "775")]))
def test_what_an_engine_started_itself_ends_with_its_simulation(fault: str, patience: str) -> None:
    if fault == "emigrant" and not KERNEL_LISTS_CHILDREN:
        pytest.skip("this kernel does not list children")
    before = {process.pid for process in psutil.process_iter()}
    [result] = run([f"broken:fault={fault},patience={patience}"], limits=SOON).values()
    assert result.outcome == "timed_out"
    assert eventually_gone(before, patience)


@pytest.mark.usefixtures("broken_engine")
@pytest.mark.skipif(not KERNEL_LISTS_CHILDREN, reason="this kernel does not list children")
def test_a_process_that_detaches_itself_delays_no_answer_and_ends_with_its_simulation() -> None:
    """It has the other end of the pipe that the answer comes through, so that stream has no end."""
    before = {process.pid for process in psutil.process_iter()}
    results = run(["broken:fault=daemon,patience=20.5", "pymunk"], "slide-to-roll")
    assert {result.outcome for result in results.values()} == {"completed"}
    assert eventually_gone(before, "20.5")


@pytest.mark.usefixtures("broken_engine")
def test_an_engine_that_stops_its_server_loses_its_own_case_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "GRACE", 0.5)
    results = run(["broken:fault=stops-server", "pymunk"], "slide-to-roll", SOON)
    assert results["broken:fault=stops-server"].reason == "the server for broken ended by SIGKILL"
    assert results["pymunk"].outcome == "completed"


@pytest.mark.usefixtures("broken_engine")
def test_no_child_outlives_a_killed_parent(tmp_path: Path) -> None:
    """kill -9 of the command while a child hangs and another has a child of its own: after 2 s nothing is left."""
    before = {process.pid for process in psutil.process_iter()}
    command = [sys.executable, "-P", "-c", "from validation.cli import main; main()", "run", "upright-block"]
    command += ["--engine", "broken:fault=hang-in-c,patience=778", "--engine", "broken:fault=grandchild,patience=778"]
    parent = subprocess.Popen(
        [*command, "--db", str(tmp_path / "killed.db")], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    assert eventually(lambda: any("778" in line for line in commands(before)), seconds=60.0)
    family = psutil.Process(parent.pid).children(recursive=True)
    assert family
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    assert eventually(lambda: not any(alive(process) for process in family), seconds=2.0)
    assert eventually_gone(before, "778")


def alive(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def commands(before: set[int]) -> list[str]:
    lines = [(p.pid, p.info["cmdline"] or [""]) for p in psutil.process_iter(["cmdline"])]
    return [" ".join(line) for pid, line in lines if pid not in before and line[0] == "sleep"]


def eventually_gone(before: set[int], word: str) -> bool:
    return eventually(lambda: not any(word in line for line in commands(before)), seconds=2.0)


def eventually(holds: Callable[[], bool], *, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.05)
    return holds()


def test_memory_is_that_of_a_process_with_all_that_it_started():
    """A shell that started a Python with 60 MiB of its own, which is no process group's affair."""
    script = "x = bytearray(60 * 2**20); print(1, flush=True); input()"
    command = ["sh", "-c", f"{sys.executable} -c '{script}'; true"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as shell:
        shell.stdout.readline()
        found, _ = resident(shell.pid)
        shell.stdin.close()
    assert 60 * 2**20 < found < 120 * 2**20
    assert resident(shell.pid)[0] == 0


@pytest.mark.skipif(not KERNEL_LISTS_CHILDREN, reason="this kernel does not list what a process started")
def test_what_forks_share_counts_once():
    """Eight forks of a Python with 60 MiB: 9 times as much, page by page, and not much more than once in memory."""
    script = (
        "import os, sys, time\nx = b'x' * (60 * 2**20)\nfor _ in range(8):\n    if os.fork() == 0:\n"
        "        time.sleep(60)\nprint(1, flush=True)\nsys.stdin.read()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", script], **pipes, start_new_session=True) as parent:
        parent.stdout.readline()
        whole, once = resident(parent.pid)[0], resident_once(parent.pid)
        kill(parent.pid)
        parent.stdin.close()
    assert whole > 9 * 60 * 2**20 and 60 * 2**20 < once < 150 * 2**20
    assert resident_once(parent.pid) == 0


class Watched(Pool):
    """Notes what is open at the same time, and which core simulations are sent to."""

    def __init__(self) -> None:
        super().__init__()
        self.most_simulating, self.together, self.cores, self.asked = 0, False, set(), 0

    def ask(self, remote, header, body=b""):
        number = super().ask(remote, header, body)
        simulating = sum(len(one.open_requests) for one in self.remotes if one.what != "measuring")
        if "settings" in header:
            self.asked += 1
            self.cores.add(header["core"])
            self.most_simulating = max(self.most_simulating, simulating)
        measuring = sum(len(one.open_requests) for one in self.remotes if one.what == "measuring")
        self.together |= bool(simulating and measuring)
        return number


@pytest.mark.parametrize(("timing",), few(1, [(True,), (False,)]))
def test_one_worker_is_one_simulation_at_a_time_and_timing_has_nothing_beside_it(timing: bool) -> None:
    """The least of five repeats on one core is timed; overhead is what is not stepping, so never below nothing."""
    cores = os.sched_getaffinity(0)
    results: list[Result] = []
    with Watched() as pool:
        requests = [Request(scenario=scenario_of(word), engine=engine_of("pymunk")) for word in PLANAR]
        plans = plan_cases(pool, requests)
        totals = execute(pool, plans, Limits(workers=1, timing=timing), results.append)
        assert pool.most_simulating == 1
        assert pool.asked == len(plans) * (5 if timing else 1)
        assert not (timing and pool.together)
        assert pool.cores == ({max(cores)} if timing and len(cores) > 1 else {None})
    assert totals.overhead >= 0.0
    assert os.sched_getaffinity(0) == cores
    for result in results:
        steps = [m.value for m in result.measurements if m.metric == "step_time"]
        assert len(steps) == timing
        assert all(0.0 < seconds < 1e-3 for seconds in steps)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="only Linux says which core a thread keeps to")
def test_a_timed_simulation_has_a_core_that_no_thread_of_ours_uses() -> None:
    if len(before := os.sched_getaffinity(0)) < 2:
        pytest.skip("one core")
    done = threading.Event()
    ticking = threading.Thread(target=done.wait)  # as a progress bar's does
    ticking.start()
    assert ticking.native_id is not None
    try:
        with left_alone(wanted=True) as core:
            assert core in before
            assert os.sched_getaffinity(0) == os.sched_getaffinity(ticking.native_id) == before - {core}
        assert os.sched_getaffinity(0) == os.sched_getaffinity(ticking.native_id) == before
    finally:
        done.set()
        ticking.join()


def test_measuring_that_does_not_answer_is_ended_and_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server that measures is stopped by a signal, as a debugger or a frozen machine would."""
    monkeypatch.setattr("validation.running.runner.MEASURING_LIMIT", 1.0)
    results: list[Result] = []
    with Pool() as pool:
        [measuring] = measuring_remotes(pool)
        plans = plan_cases(pool, [Request(scenario=scenario_of("bouncing-ball"), engine=engine_of("pymunk"))])
        pool.greet([measuring])
        os.kill(measuring.process.pid, signal.SIGSTOP)
        execute(pool, plans, LIMITS, results.append)
    [result] = results
    assert result.outcome == "completed" and not result.measurements
    assert "could not be measured" in result.reason and "SIGKILL" in result.reason


@pytest.mark.usefixtures("broken_engine")
@pytest.mark.skipif(not KERNEL_LISTS_CHILDREN, reason="this kernel does not list children")
def test_a_process_that_forks_on_ends_with_its_server_and_leaves_none_to_wait_for() -> None:
    """Each is the child of one that has ended; it kills its server, so all of them come to us."""
    [result] = run(["broken:fault=forks-on,patience=30"], "slide-to-roll", SOON).values()
    assert result.reason == "the server for broken ended by SIGKILL"
    own = psutil.Process()
    assert eventually(lambda: not [one for one in own.children() if is_of("broken", one)], seconds=2.0)
    assert not [one for one in own.children() if one.status() == psutil.STATUS_ZOMBIE]


def is_of(engine: str, process: psutil.Process) -> bool:
    try:
        return f"fork_server {engine} " in " ".join(process.cmdline())
    except psutil.Error:
        return False
