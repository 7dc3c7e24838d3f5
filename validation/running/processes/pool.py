"""The parent's side: servers that it starts, asks and listens to. One thread, no busy waiting."""

from __future__ import annotations

import contextlib
import itertools
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from validation.running.processes.executor import MEASURING, Reply
from validation.running.processes.frames import CHUNK, ClosedError, Reader, pack

LEAVE_LIMIT = 2.0  # s for a server to end what it started, before it is killed
GRACE = 10.0  # s beyond a request's own limit, after which a server that has not ended it is killed itself
START_LIMIT = 120.0  # s for a server to say hello; an engine's import may be slow, not endless
SINGLE_THREADED = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def own(module: str) -> list[str]:
    """Runs a module of ours in this Python."""
    return [sys.executable, "-P", "-m", module]


@dataclass(slots=True, kw_only=True, eq=False)
class Remote:
    """A server process and the questions that it has not answered."""

    what: str  # for messages: the engine's word, or MEASURING
    process: subprocess.Popen[bytes]
    connection: socket.socket
    reader: Reader = field(default_factory=Reader)
    outbox: bytearray = field(default_factory=bytearray)
    hello: dict[str, Any] | None = None
    open_requests: set[int] = field(default_factory=set)
    due: dict[int, float] = field(default_factory=dict)  # of those with a limit: when, by time.monotonic(), s


class Pool:
    """An `Executor`: servers by word. Use as a context manager: leaving it ends them all and what they started."""

    elsewhere = False

    def __init__(self, commands: Mapping[str, Sequence[str]] | None = None) -> None:
        """`commands`: engine word -> what starts its fork server, where that is another Python than this one."""
        self._commands = dict(commands or {})
        self._selector = selectors.DefaultSelector()
        self._ids = itertools.count(1)
        self.remotes: list[Remote] = []

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def at_once(self, workers: int) -> int:
        """As many as are wanted."""
        return workers

    def start_engine(self, word: str) -> Remote:
        if command := self._commands.get(word):  # an environment has the one version
            return self._start(word, command, word.partition("==")[0])
        return self._start(word, own("validation.running.processes.fork_server"), word)

    def start_measuring(self) -> Remote:
        return self._start(MEASURING, own("validation.running.processes.measure_server"))

    def _start(self, what: str, program: Sequence[str], *arguments: str) -> Remote:
        ours, theirs = socket.socketpair()
        command = [*program, *arguments, str(theirs.fileno()), str(os.getpid())]
        with theirs:
            process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=None if os.environ.get("UPRIGHT_DEBUG") else subprocess.DEVNULL,
                env=os.environ | SINGLE_THREADED,
            )
        ours.setblocking(False)
        remote = Remote(what=what, process=process, connection=ours)
        self._selector.register(ours, selectors.EVENT_READ, remote)
        self.remotes.append(remote)
        return remote

    def ask(self, remote: Remote, header: dict[str, Any], body: bytes = b"") -> int:
        """Send a request; its answer comes out of `wait` with the id returned here."""
        number = next(self._ids)
        remote.open_requests.add(number)
        if "time_limit" in header and "live" not in header:
            remote.due[number] = time.monotonic() + header["time_limit"] + GRACE
        remote.outbox += pack(header | {"id": number}, body)
        self._send(remote)
        return number

    def add(self, remote: Remote, number: int, header: dict[str, Any]) -> None:
        """To a request that is being answered: {"until": ...} moves a live one on, {"end": true} ends any."""
        remote.outbox += pack(header | {"to": number})
        self._send(remote)

    def also(self, connection: socket.socket) -> None:
        """`wait` ends when something comes here, too; who asks reads it."""
        self._selector.register(connection, selectors.EVENT_READ)

    def wait(self, timeout: float | None = None) -> Iterator[Reply]:
        """Replies that have come, after at most one wait; a server's hello is kept, not yielded.

        A server that died answers its open requests with outcome "crashed"; one that an engine has stopped is killed.
        """
        due = min([(moment, one.process.pid, one) for one in self.remotes for moment in one.due.values()], default=None)
        if due is not None:
            left = max(0.0, due[0] - time.monotonic())
            timeout = left if timeout is None else min(timeout, left)
        events_of = self._selector.select(timeout)
        if due is not None and not events_of and time.monotonic() >= due[0]:
            self.kill(due[2])
        for key, events in events_of:
            if key.data is None:
                continue
            remote: Remote = key.data
            try:
                if events & selectors.EVENT_WRITE:
                    self._send(remote)
                if events & selectors.EVENT_READ:
                    yield from self._read(remote)
            except ClosedError:
                yield from self._bury(remote)

    def greet(self, remotes: list[Remote]) -> None:
        """Wait until each has said hello or is dead; `hello` then holds what it said, or {"error": ...}."""
        deadline = time.monotonic() + START_LIMIT
        while waiting := [remote for remote in remotes if remote.hello is None]:
            left = deadline - time.monotonic()
            if left <= 0.0:
                for remote in waiting:
                    remote.hello = {"error": f"did not start within {START_LIMIT:g} s"}
                    self.stop(remote)
                return
            for reply in self.wait(left):
                raise RuntimeError(f"{reply.remote.what}: answered before it was asked")

    def kill(self, remote: Remote) -> None:
        """It does not answer: what is open with it is answered "crashed"."""
        remote.process.kill()

    def stop(self, *remotes: Remote) -> None:
        """End these servers, together within `LEAVE_LIMIT`."""
        for remote in remotes:
            if remote in self.remotes:
                self.remotes.remove(remote)
                self._selector.unregister(remote.connection)
                remote.connection.close()  # the server sees the end of the stream, kills its children and leaves
        deadline = time.monotonic() + LEAVE_LIMIT
        for remote in remotes:
            try:
                remote.process.wait(max(0.0, deadline - time.monotonic()) if remote.hello else 0.0)
            except subprocess.TimeoutExpired:
                remote.process.kill()
                remote.process.wait()

    def close(self) -> None:
        self.stop(*self.remotes)
        self._selector.close()

    # --- inside ---

    def _read(self, remote: Remote) -> Iterator[Reply]:
        try:
            data = remote.connection.recv(CHUNK)
        except BlockingIOError:
            return
        except ConnectionResetError as error:
            raise ClosedError from error
        if not data:
            raise ClosedError
        for header, body in remote.reader.feed(data):
            if remote.hello is None:
                remote.hello = header
            else:
                if not header.get("more"):
                    remote.open_requests.discard(header["id"])
                    remote.due.pop(header["id"], None)
                yield Reply(remote, header["id"], header, body)

    def _send(self, remote: Remote) -> None:
        """Write what the socket takes; the rest when it takes more (both sides full would be a deadlock)."""
        while remote.outbox:
            try:
                sent = remote.connection.send(remote.outbox)
            except BlockingIOError:
                break
            except (BrokenPipeError, ConnectionResetError):
                remote.outbox.clear()  # `_read` finds the end of the stream
                break
            del remote.outbox[:sent]
        if remote in self.remotes:
            wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if remote.outbox else 0)
            self._selector.modify(remote.connection, wanted, remote)

    def _bury(self, remote: Remote) -> Iterator[Reply]:
        """The server is gone: every open request has crashed with it."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            remote.process.wait(2.0)
        code = remote.process.poll()
        died = f"by {signal.Signals(-code).name}" if code is not None and code < 0 else f"with exit status {code}"
        open_requests, remote.open_requests, remote.due = sorted(remote.open_requests), set(), {}
        if remote.hello is None:
            remote.hello = {"error": f"the process that imports it ended {died}"}
        self.stop(remote)
        for number in open_requests:
            yield Reply(
                remote, number, {"outcome": "crashed", "reason": f"the server for {remote.what} ended {died}"}, b""
            )
