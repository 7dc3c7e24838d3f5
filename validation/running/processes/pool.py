"""The parent's side: servers that it starts, asks and listens to. One thread, no busy waiting."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from validation.engines.shared.lifeline import adopting_orphans
from validation.running.processes.executor import MEASURING, Reply
from validation.running.processes.family import (
    END_LIMIT,
    MARK,
    end_children,
    environment_has,
    group_of,
    has_ended,
    removed,
)
from validation.running.processes.frames import CHUNK, ClosedError, GarbledError, Reader, pack
from validation.running.processes.limits import own_folder
from validation.running.processes.received import hello_of, reply_of
from validation.running.processes.template import AVAILABLE, MODULES, SINGLE_THREADED, Forked, Template, begun

ATTEMPTS = 3  # at a start or an answer, where somebody else kills the server: a kernel short of memory, an operator
LEAVE_LIMIT = 2.0  # s for a server to end what it started, before it is killed
GRACE = 10.0  # s beyond a request's own limit, after which a server that has not ended it is killed itself
START_LIMIT = 120.0  # s for a server to say hello; an engine's import may be slow, not endless


def own(module: str) -> list[str]:
    """Runs a module of ours in this Python."""
    return [sys.executable, "-P", "-m", module]


@dataclass(slots=True, kw_only=True)
class Question:
    """One that a server has not answered."""

    message: bytes
    limit: float | None  # s
    repeatable: bool
    attempts: int = 0
    due: float = math.inf  # by time.monotonic(), s

    def sent(self, starting: float = 0.0) -> bytes:
        """To a server that may take so long (s) to start."""
        self.attempts += 1
        self.due = math.inf if self.limit is None else time.monotonic() + starting + self.limit + GRACE
        return self.message


@dataclass(slots=True, kw_only=True, eq=False)
class Remote:
    """A server process and the questions that it has not answered."""

    what: str  # for messages: the engine's word, or MEASURING
    program: Sequence[str]
    process: subprocess.Popen[bytes] | Forked
    connection: socket.socket
    mark: str
    reader: Reader = field(default_factory=Reader)
    outbox: bytearray = field(default_factory=bytearray)
    hello: dict[str, Any] | None = None
    greeted: bool = False  # by the process that it is now
    starts: int = 1  # in a row without a hello
    given_up: bool = False  # we kill it ourselves
    open_requests: dict[int, Question] = field(default_factory=dict)


class Pool:
    """An `Executor`: servers by word. Use as a context manager: leaving it ends them all and what they started."""

    elsewhere = False

    def __init__(self, commands: Mapping[str, Sequence[str]] | None = None) -> None:
        """`commands`: engine word -> what starts its fork server, where that is another Python than this one."""
        self._commands = dict(commands or {})
        self._selector = selectors.DefaultSelector()
        self._ids = itertools.count(1)
        self.remotes: list[Remote] = []
        self._restless: set[str] = set()  # marks of ended servers that may have left processes
        self._early: list[Reply] = []  # that came while a server was greeted
        self._template: Template | None = None
        self._adopting = contextlib.ExitStack()
        self._adopting.enter_context(adopting_orphans())

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def at_once(self, workers: int) -> int:
        """As many as are wanted."""
        return workers

    def start_engine(self, word: str, command: Sequence[str] | None = None) -> Remote:
        """`command`: what starts its fork server, where that is not as `commands` say."""
        if command := command or self._commands.get(word):  # an environment has the one version
            return self._start(word, command, word.partition("==")[0])
        return self._start(word, own("validation.running.processes.fork_server"), word)

    def start_measuring(self) -> Remote:
        return self._start(MEASURING, own("validation.running.processes.measure_server"))

    def _start(self, what: str, program: Sequence[str], *arguments: str) -> Remote:
        program = [*program, *arguments]
        process, connection, mark = self._launched(program)
        remote = Remote(what=what, program=program, process=process, connection=connection, mark=mark)
        self._selector.register(connection, selectors.EVENT_READ, remote)
        self.remotes.append(remote)
        return remote

    def ask(self, remote: Remote, header: dict[str, Any], body: bytes = b"") -> int:
        """Send a request; its answer comes out of `wait` with the id returned here."""
        number = next(self._ids)
        live = "live" in header
        limit = None if live else header.get("time_limit")
        question = Question(message=pack(header | {"id": number}, body), limit=limit, repeatable=not live)
        if remote not in self.remotes:  # it has ended since it was greeted
            self._restart(remote, {})
        remote.open_requests[number] = question
        remote.outbox += question.sent()
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

        A server that died answers its open requests with outcome "crashed"; one that an engine has stopped, or that
        sends what is no message, is killed.
        One that somebody else has killed (SIGKILL) is started and asked again, up to `ATTEMPTS` times in all.
        """
        if self._early:
            yield from self._early
            self._early = []
            return
        if self._restless:
            self._end_orphans()
        limited = [(q.due, one.process.pid, one) for one in self.remotes for q in one.open_requests.values() if q.limit]
        due = min(limited, default=None)
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
            if key.fileobj is not remote.connection or remote not in self.remotes:
                continue  # started again, or ended, since we waited
            try:
                if events & selectors.EVENT_WRITE:
                    self._send(remote)
                if events & selectors.EVENT_READ:
                    yield from self._read(remote)
            except ClosedError:
                yield from self._bury(remote)
            except GarbledError as error:
                yield from self._bury(remote, f"sent what cannot be read ({error})")

    def greet(self, remotes: list[Remote]) -> None:
        """Wait until each has said hello or is dead; `hello` then holds what it said, or {"error": ...}."""
        deadline = time.monotonic() + START_LIMIT
        while waiting := [remote for remote in remotes if remote.hello is None]:
            left = deadline - time.monotonic()
            if left <= 0.0:
                for remote in waiting:
                    remote.hello = {"error": f"did not start within {START_LIMIT:g} s", "outcome": "timed_out"}
                    self.stop(remote)
                return
            early, self._early = self._early, []
            self._early = [*early, *self.wait(left)]

    def kill(self, remote: Remote) -> None:
        """It does not answer: what is open with it is answered "crashed"."""
        remote.given_up = True
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
            self._end_orphans(remote)

    def close(self) -> None:
        self.stop(*self.remotes)
        self._selector.close()
        if self._template is not None:
            self._template.close()
        self._adopting.close()

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
            if remote.what != MEASURING:
                header = reply_of(header, body) if remote.greeted else hello_of(header)
            if not remote.greeted:
                remote.greeted, remote.starts = True, 0
                remote.hello = remote.hello or header
            elif header.get("id") not in remote.open_requests:
                raise GarbledError("it answers what it was not asked")
            else:
                if not header.get("more"):
                    remote.open_requests.pop(header["id"], None)
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

    def _bury(self, remote: Remote, fault: str = "") -> Iterator[Reply]:
        """The server is gone, or is ended for this fault: it is started again where somebody else has killed it, else
        its open requests have crashed with it."""
        if fault:
            self.kill(remote)
        with contextlib.suppress(subprocess.TimeoutExpired):
            remote.process.wait(2.0)
        code = remote.process.poll()
        cause = fault or ("has closed its connection" if code is None else f"ended {ended_as(code)}")
        killed = code == -signal.SIGKILL and not remote.given_up and remote.starts < ATTEMPTS
        asked = remote.open_requests
        again = {number: one for number, one in asked.items() if killed and one.repeatable and one.attempts < ATTEMPTS}
        if again or (killed and remote.hello is None):
            self._restart(remote, again)
        else:
            if remote.hello is None:
                remote.hello = {"error": f"the process that imports it {cause}"}
            remote.open_requests = {}
            self.stop(remote)
        for number in sorted(asked.keys() - again.keys()):
            yield Reply(remote, number, {"outcome": "crashed", "reason": f"the server for {remote.what} {cause}"}, b"")

    def _end_orphans(self, *remotes: Remote) -> None:
        """What servers that were killed had detached from themselves: the kernel hands it over to us (Linux), and those
        that have ended, of a group of their own as all that an engine starts, have to be waited for. One that goes on
        forking is seen to again and again."""
        self._restless |= {remote.mark for remote in remotes}
        limit = END_LIMIT if remotes else 0.0

        def ours(pid: int) -> bool:
            if has_ended(pid):
                return group_of(pid) != os.getpgrp()
            return any(environment_has(pid, MARK, mark) for mark in self._restless)

        if end_children(ours, limit):
            self._restless.clear()
        for remote in remotes:
            removed(own_folder(remote.mark))

    def _restart(self, remote: Remote, questions: dict[int, Question]) -> None:
        """With these questions once more."""
        if remote in self.remotes:
            self._selector.unregister(remote.connection)
            remote.connection.close()
        else:
            self.remotes.append(remote)
        self._end_orphans(remote)
        remote.process, remote.connection, remote.mark = self._launched(remote.program)
        remote.reader, remote.greeted, remote.starts = Reader(), False, remote.starts + 1
        remote.open_requests = questions
        remote.outbox = bytearray().join(one.sent(START_LIMIT) for one in questions.values())
        self._selector.register(remote.connection, selectors.EVENT_READ, remote)
        self._send(remote)

    def _launched(self, program: Sequence[str]) -> tuple[subprocess.Popen[bytes] | Forked, socket.socket, str]:
        """The process, our end of its connection, and the mark of all that it starts."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        mark = uuid.uuid4().hex
        with theirs:
            module = next((one for one in MODULES if AVAILABLE and list(program[:4]) == own(one)), None)
            if module is not None:
                return self._forking().fork(module, [*program[4:]], mark, theirs), ours, mark
            process = subprocess.Popen(
                [*program, str(theirs.fileno()), str(os.getpid())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=None if os.environ.get("UPRIGHT_DEBUG") else subprocess.DEVNULL,
                env=os.environ | SINGLE_THREADED | {MARK: mark},
            )
        return process, ours, mark

    def _forking(self) -> Template:
        """One that starts servers as they would start now."""
        if self._template is not None and not self._template.fits:
            self._template.close()
            self._template = None
        if self._template is None:
            self._template = begun()
        return self._template


def ended_as(code: int) -> str:
    """Of a process, by its exit code; below 0: a signal."""
    return f"by {signal.Signals(-code).name}" if code < 0 else f"with exit status {code}"
