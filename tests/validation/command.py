"""Runs the command as a user does: in this process where that will do, as a process of its own where it must be.

Within this process the servers of the engines that come with Upright are kept from one command to the next: most of
a small run's time is their start.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import selectors
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from validation import cli
from validation.engines import OURS
from validation.running.processes import template
from validation.running.processes.pool import Pool, Remote

AS_COMMAND = [sys.executable, "-P", "-c", "from validation.cli import main; main()"]
HERE = {name: os.environ.get(name) for name in ("UPRIGHT_CACHE", "GLIBC_TUNABLES")}
THEY_DO_NOT_READ = (
    "PYTEST_CURRENT_TEST",
    "UPRIGHT_DB",
    "UPRIGHT_USER",
    "UPRIGHT_DEFAULT_BRANCH",
    "COLUMNS",
    "NO_COLOR",
)
IDLE: dict[Any, list[Remote]] = defaultdict(list)  # servers that nobody asks, by what they were started as
STARTED: dict[Remote, Any] = {}
start_server, stop_servers = Pool._start, Pool.stop


def start(words: Sequence[str], folder: Path, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*AS_COMMAND, *words],
        cwd=folder,
        env=os.environ | environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def upright_process(*words: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    process = start(words, folder, **environment)
    out, err = process.communicate(timeout=300)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def upright(*words: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command in `folder`: in this process, unless that has other modules or caches, or another C library.

    A variable that is asked to be empty may as well be absent."""
    environment = {name: value for name, value in environment.items() if value != os.environ.get(name, "")}
    wanted = os.environ | environment
    paths = [path for path in wanted.get("PYTHONPATH", "").split(os.pathsep) if path not in ("", *sys.path)]
    if paths or any(wanted.get(name) != value for name, value in HERE.items()):
        return upright_process(*words, folder=folder, **environment)
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(mock.patch.dict(os.environ, environment))
        stack.enter_context(mock.patch.object(sys, "argv", ["upright", *words]))
        stack.enter_context(mock.patch.object(sys, "path", list(sys.path)))
        stack.enter_context(kept_servers())
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        leaving = stack.enter_context(pytest.raises(SystemExit))
        cli.main()
    return subprocess.CompletedProcess(words, int(leaving.value.code or 0), *(text_of(one) for one in (out, err)))


def text_of(written: io.TextIOWrapper) -> str:
    written.seek(0)
    return written.read()


def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit status, standard output and error of the command in this process and folder."""
    done = upright(*words, folder=Path.cwd())
    return done.returncode, done.stdout, done.stderr


# --- servers ------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def kept_servers() -> Iterator[None]:
    """Pools take idle servers and give them back."""
    with (
        mock.patch.object(Pool, "_start", taken),
        mock.patch.object(Pool, "stop", given_back),
        mock.patch.object(template, "begin", lambda: None),
    ):
        yield


def taken(pool: Pool, what: str, program: Sequence[str], *arguments: str) -> Remote:
    ours = what in (*OURS, "measuring")
    own_file = Path(f"{what.partition('.')[0]}.py")  # a user's engine, in this folder: its code may change
    if program[0] != sys.executable or not (ours or own_file.is_file()):
        return start_server(pool, what, program, *arguments)
    unread = (*THEY_DO_NOT_READ, "PYTHONPATH") if what == "measuring" else THEY_DO_NOT_READ
    environment = frozenset((name, value) for name, value in os.environ.items() if name not in unread)
    key = what, tuple(program), arguments, environment, () if ours else (Path.cwd(), own_file.read_bytes())
    while IDLE[key]:
        remote = IDLE[key].pop()
        if remote.process.poll() is None:
            pool._selector.register(remote.connection, selectors.EVENT_READ, remote)
            pool.remotes.append(remote)
            return remote
    remote = start_server(pool, what, program, *arguments)
    STARTED[remote] = key
    return remote


def given_back(pool: Pool, *remotes: Remote) -> None:
    for remote in remotes:
        sound = remote.hello and "error" not in remote.hello and remote.process.poll() is None
        if remote in STARTED and remote in pool.remotes and sound and not remote.open_requests and not remote.outbox:
            pool.remotes.remove(remote)
            pool._selector.unregister(remote.connection)
            IDLE[STARTED[remote]].append(remote)
    stop_servers(pool, *(remote for remote in remotes if remote in pool.remotes))


@atexit.register
def end_servers() -> None:
    for remote in STARTED:
        remote.connection.close()
