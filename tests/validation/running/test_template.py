"""Servers that one process forks are as if each had been started: children of ours, with nothing of another's."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import psutil
import pytest

from validation import cli
from validation.running.processes import template
from validation.running.processes.family import MARK, environment_has
from validation.running.processes.pool import Pool, Remote
from validation.running.processes.template import AVAILABLE, Forked

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="orphans are adopted on Linux only")


def greeted(pool: Pool, *remotes: Remote) -> None:
    pool.greet(list(remotes))
    assert all(remote.hello is not None and "error" not in remote.hello for remote in remotes)


def test_forked_servers_are_children_of_ours_with_their_own_command_and_mark() -> None:
    with Pool() as pool:
        remotes = [pool.start_engine("pymunk"), pool.start_engine("box2d"), pool.start_measuring()]
        greeted(pool, *remotes)
        for remote, (module, *word) in zip(
            remotes, (["fork_server", "pymunk"], ["fork_server", "box2d"], ["measure_server"])
        ):
            assert isinstance(remote.process, Forked)
            process = psutil.Process(remote.process.pid)
            assert process.ppid() == os.getpid()
            command = [part for part in process.cmdline() if part]
            assert command[3] == f"validation.running.processes.{module}"
            assert command[4:-2] == word and command[-1] == str(os.getpid())
            for other in remotes:
                assert environment_has(process.pid, MARK, other.mark) == (other is remote)
    assert [remote.process.poll() for remote in remotes[:2]] == [0, 0]  # what measures is killed


def test_a_forked_server_has_its_own_descriptors_only() -> None:
    """Else the connection of another server, or of the template, would have no end."""
    with Pool() as pool:
        remotes = [pool.start_engine("pymunk"), pool.start_engine("box2d"), pool.start_measuring()]
        greeted(pool, *remotes)
        sockets = []
        for remote in remotes:
            files = Path(f"/proc/{remote.process.pid}/fd").iterdir()
            opened = [str(file.readlink()) for file in files]
            sockets += [name for name in opened if name.startswith("socket:")]
            assert not [name for name in opened if name.startswith("pipe:")]
        assert len(sockets) == len(set(sockets)) == len(remotes)


def test_another_template_forks_where_the_first_has_died_or_what_is_read_at_the_start_has_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Pool() as pool:
        first = pool.start_engine("pymunk")
        greeted(pool, first)
        used = pool._template
        assert used is not None
        os.kill(used._process.pid, signal.SIGKILL)
        used._process.wait()
        second = pool.start_engine("pymunk")
        greeted(pool, second)
        assert pool._template is not used
        used = pool._template
        monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
        greeted(pool, pool.start_engine("pymunk"))
        assert pool._template is not used
        assert first.process.poll() is None is second.process.poll()


OWN = """
from validation.engines.pymunk.adapter import Pymunk

class Engine(Pymunk):
    name = "own"
"""


def test_a_server_has_the_folder_and_the_environment_of_when_it_is_forked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "template_own.py").write_text(OWN)
    with Pool() as pool:
        greeted(pool, pool.start_engine("pymunk"))
        used = pool._template
        monkeypatch.chdir(tmp_path / "here")
        monkeypatch.setenv("UPRIGHT_ENGINE_PATH", str(tmp_path))
        own = pool.start_engine("template_own.Engine")
        greeted(pool, own)
        assert pool._template is used
        assert psutil.Process(own.process.pid).cwd() == f"{tmp_path}/here"
        assert os.getpgid(own.process.pid) == os.getpgrp()


def test_a_server_whose_template_dies_before_it_is_forked_is_started_again() -> None:
    with Pool() as pool:
        remote = pool.start_engine("pymunk")
        assert pool._template is not None
        os.kill(pool._template._process.pid, signal.SIGKILL)
        greeted(pool, remote)
    ended = [one for one in psutil.Process().children() if one.status() == psutil.STATUS_ZOMBIE]
    assert not ended, "what was forked and nobody heard of"


@pytest.mark.parametrize(
    ("words", "asked", "begins"),
    [
        ("run stack", "", True),
        ("check --executor local", "dask://h", True),
        ("run --executor dask://h:1 --executor local", "", True),
        ("run stack", "dask://h", False),
        ("ci --executor dask://h:1 stack", "", False),
        ("check --executor=tls://h", "", False),
        ("run --help", "", False),
        ("scenarios", "", False),
        ("", "", False),
    ],
)
def test_a_command_begins_a_template_only_where_processes_of_this_machine_simulate(
    monkeypatch: pytest.MonkeyPatch, words: str, asked: str, begins: bool
) -> None:
    begun: list[bool] = []
    monkeypatch.setattr(template, "begin", lambda: begun.append(True))
    monkeypatch.setattr(cli.cli, "main", lambda standalone_mode: 0)
    monkeypatch.setattr(sys, "argv", ["upright", *words.split()])
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("UPRIGHT_EXECUTOR", asked)
    before = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(SystemExit):
            cli.main()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert begun == [True] * begins
