"""The warm servers of one worker process, which all its threads ask: one pool of them, in a thread of its own."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from validation.running.processes.executor import MEASURING, Reply
from validation.running.processes.pool import START_LIMIT, Pool, Remote

IDLE_LIMIT = 600.0  # s without a request, after which a server is ended
POLL = 0.25  # s between two checks of limits

T = TypeVar("T")
Key = tuple[str, str]
"""Word of an engine, and what tells its code apart: one whose code may change has a server for each command."""


@dataclass(slots=True, eq=False)
class _Warm:
    remote: Remote
    used: float  # when it was last asked, by time.monotonic()
    begun: float
    greeting: list[Future[dict[str, Any]]] = field(default_factory=list)  # who waits for its hello


class Servers:
    """Every method may be called by any thread."""

    def __init__(self) -> None:
        self._commands: dict[str, list[str]] = {}
        self._pool = Pool()
        self._orders: deque[tuple[Future[Any], Callable[[], None]]] = deque()
        self._warm: dict[Key, _Warm] = {}
        self._open: dict[int, tuple[str, Remote, Future[Reply]]] = {}  # with the session that asks
        self._bell, heard = socket.socketpair()
        self._heard = heard
        heard.setblocking(False)
        self._pool.also(heard)
        # Servers are killed when the thread that has started them ends: so this one starts them, and never ends.
        threading.Thread(target=self._serve, name="upright servers", daemon=True).start()

    def hello(self, key: Key, command: list[str] | None = None) -> dict[str, Any]:
        """Of the server, started if it does not run; {"error": ...} where it cannot. `command` starts it, if given."""
        future: Future[dict[str, Any]] = Future()
        return self._done(future, lambda: self._greet(key, command, future))

    def ask(self, session: str, key: Key, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        """The answer: header and body."""
        future: Future[Reply] = Future()
        reply = self._done(future, lambda: self._ask(session, key, header, body, future))
        return reply.header, reply.body

    def end(self, session: str) -> None:
        """What this session has asked for; and the servers that are its own."""
        done: Future[None] = Future()
        self._done(done, lambda: self._end(session, done))

    def stop_idle(self, key: Key) -> None:
        """One that is not asked for soon, unless a request is open."""
        done: Future[None] = Future()
        self._done(done, lambda: self._let_go(key, done))

    def _done(self, future: Future[T], order: Callable[[], None]) -> T:
        """What the future gets, in the thread that asks."""
        self._orders.append((future, order))
        self._bell.send(b".")
        return future.result()

    # --- in its thread ---

    def _serve(self) -> None:
        try:
            while True:
                self._turn()
        except BaseException:  # nobody would be answered any more: Dask starts another worker process
            traceback.print_exc()
            os._exit(1)

    def _turn(self) -> None:
        busy = self._open or any(one.greeting for one in self._warm.values())
        for reply in self._pool.wait(POLL if busy else IDLE_LIMIT / 10.0):
            if found := self._open.pop(reply.id, None):
                found[2].set_result(reply)
        with contextlib.suppress(BlockingIOError):
            self._heard.recv(4096)
        while self._orders:
            future, order = self._orders.popleft()
            try:
                order()
            except Exception as error:  # such as no more processes: of whom asked for it
                future.set_exception(error)
        now = time.monotonic()
        for key, one in list(self._warm.items()):
            self._see_to(key, one, now)

    def _see_to(self, key: Key, one: _Warm, now: float) -> None:
        remote = one.remote
        if remote.hello is None and now - one.begun > START_LIMIT:
            remote.hello = {"error": f"did not start within {START_LIMIT:g} s"}
            self._drop(remote, "crashed", f"the server for {remote.what} did not start")
        if remote.hello is not None:
            for future in one.greeting:
                future.set_result(remote.hello)
            one.greeting.clear()
        gone = remote not in self._pool.remotes
        if gone or (not remote.open_requests and now - one.used > IDLE_LIMIT):
            del self._warm[key]
            self._pool.stop(remote)

    def _server(self, key: Key) -> _Warm:
        """Warm, or started now."""
        found, now = self._warm.get(key), time.monotonic()
        if found is None or found.remote not in self._pool.remotes:
            word, _ = key
            measures, pool = word == MEASURING, self._pool
            remote = pool.start_measuring() if measures else pool.start_engine(word, self._commands.get(word))
            found = self._warm[key] = _Warm(remote, now, now)
        found.used = now
        return found

    def _greet(self, key: Key, command: list[str] | None, future: Future[dict[str, Any]]) -> None:
        if command is not None:
            self._commands[key[0]] = command
        for other, one in list(self._warm.items()):  # of another code: nobody asks for it any more
            if other[0] == key[0] and other != key and not one.remote.open_requests and not one.greeting:
                self._stop_idle(other)
        self._server(key).greeting.append(future)

    def _ask(self, session: str, key: Key, header: dict[str, Any], body: bytes, future: Future[Reply]) -> None:
        remote = self._server(key).remote
        self._open[self._pool.ask(remote, header, body)] = session, remote, future

    def _end(self, session: str, done: Future[None]) -> None:
        for number, (asking, remote, _) in self._open.items():
            if asking == session and remote.what != MEASURING:
                self._pool.add(remote, number, {"end": True})
        for key in [key for key in self._warm if key[1] == session]:
            self._drop(self._warm.pop(key).remote, "ended", "the command that asked for it has ended")
        done.set_result(None)

    def _drop(self, remote: Remote, outcome: str, reason: str) -> None:
        """End it, and answer what is open with it."""
        for number in [number for number, (_, asked, _) in self._open.items() if asked is remote]:
            answer = {"outcome": outcome, "reason": reason}
            self._open.pop(number)[2].set_result(Reply(remote, number, answer, b""))
        self._pool.stop(remote)

    def _let_go(self, key: Key, done: Future[None]) -> None:
        self._stop_idle(key)
        done.set_result(None)

    def _stop_idle(self, key: Key) -> None:
        if (found := self._warm.get(key)) and not found.remote.open_requests:
            self._pool.stop(self._warm.pop(key).remote)
