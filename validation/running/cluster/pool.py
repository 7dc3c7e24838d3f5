"""The command's side of a Dask cluster: an `Executor` whose servers are in its workers.

Each request is one task of Dask's, which starts it again where a worker dies; an answer counts once. What is open when
the scheduler is lost is asked again once it is back.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
import threading
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as LimitError
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from distributed import Client, Future
from distributed.scheduler import KilledWorker

from validation.running.cluster import worker
from validation.running.cluster.address import ExecutorError
from validation.running.cluster.identity import Identity, compared, differing
from validation.running.processes.executor import MEASURING, Reply
from validation.running.processes.frames import Reader

CONNECT_LIMIT = 10.0  # s for a scheduler to answer
WORKERS_LIMIT = 30.0  # s without any worker
GREET_LIMIT = 900.0  # s for all workers to have their engines: kernels to compile, environments to install
LOST_LIMIT = 60.0  # s for a lost scheduler to be back with workers
MOST_LOSSES = 5  # of the scheduler without an answer between them
END_LIMIT = 8.0  # s for what is asked for to be ended
WATCH = 1.0  # s between two counts of workers

T = TypeVar("T")


class _AwayError(ExecutorError):
    """It may come back."""


@dataclass(slots=True, kw_only=True, eq=False)
class ClusterServer:
    """Of one engine, or measuring: in every worker."""

    what: str
    identity: str  # as JSON
    hello: dict[str, Any] | None = None
    open_requests: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Request:
    remote: ClusterServer
    header: dict[str, Any]
    body: bytes


@dataclass(frozen=True, slots=True)
class _Event:
    """What became of a request; without a number, of the connection."""

    number: int = 0
    answer: bytes | None = None  # None: there is none, and `reason` says why
    reason: str = ""
    lost: int = 0  # which connection, if it was lost


class ClusterPool:
    """Use as a context manager: leaving it ends what is asked for, and servers of code that may change."""

    elsewhere = True

    def __init__(self, address: str) -> None:
        """`address` as Dask has it. Raises ExecutorError."""
        _quiet()
        self.address, self._session = address, secrets.token_hex(8)
        self.remotes: list[ClusterServer] = []
        self._requests: dict[int, _Request] = {}  # that are open
        self._number = 0
        self._futures: dict[int, Future[bytes]] = {}
        self._deliveries: set[asyncio.Future[None]] = set()
        self._events: SimpleQueue[_Event] = SimpleQueue()
        self._threads, self._seen = 0, time.monotonic()  # of all workers; when there was one
        self._connection = self._losses = 0
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="dask client", daemon=True).start()
        self._client: Any = None  # a distributed.Client
        self._connect(CONNECT_LIMIT)
        try:
            self._run(lambda: self._client.wait_for_workers(1, timeout=WORKERS_LIMIT), WORKERS_LIMIT + 2.0)
            self._threads = sum(self._run(lambda: self._client.nthreads(), CONNECT_LIMIT).values())
        except OSError:  # which a time limit is, too
            self.close()
            start = f"start one: dask worker {self.address} --nthreads 1"
            raise ExecutorError(f"the Dask scheduler {self.address} has no worker; {start}") from None

    def __enter__(self) -> ClusterPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def at_once(self, workers: int) -> int:
        """As many as the cluster has threads; `workers` are of this machine."""
        return max(1, self._threads)

    def start_engine(self, word: str) -> ClusterServer:
        """Raises BuildError where its version needs an environment that cannot be made."""
        return self._started(word)

    def start_measuring(self) -> ClusterServer:
        return self._started(MEASURING)

    def _started(self, word: str) -> ClusterServer:
        remote = ClusterServer(what=word, identity=json.dumps(worker.identity_of(word), sort_keys=True))
        self.remotes.append(remote)
        return remote

    def greet(self, remotes: list[ClusterServer]) -> None:
        """All workers start these; `hello` has what they say. Raises ExecutorError where they are not the same."""
        if any(remote.hello is None for remote in remotes):
            waiting = [remote for remote in self.remotes if remote.hello is None]  # what measures, too
            hellos = self._greeted({remote.what: remote.identity for remote in waiting})
            for remote in waiting:
                remote.hello = hellos[remote.what]

    def ask(self, remote: ClusterServer, header: dict[str, Any], body: bytes = b"") -> int:
        if remote.hello is None:
            self.greet([remote])
        self._number += 1
        self._requests[self._number] = _Request(remote, header, body)
        remote.open_requests.add(self._number)
        if self._client is None or self._client.status != "running":
            self._reconnect()  # which asks for all that is open
        else:
            self._run(lambda: self._submit(self._number), CONNECT_LIMIT)
        return self._number

    def wait(self, timeout: float | None = None) -> Iterator[Reply]:
        """Raises ExecutorError where the scheduler or all workers are gone for good."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            left = WATCH if until is None else max(0.0, min(WATCH, until - time.monotonic()))
            try:
                event: _Event | None = self._events.get(timeout=left)
            except Empty:
                event = None
            if event is not None:
                yield from self._taken(event)
                while not self._events.empty():
                    yield from self._taken(self._events.get())
                return
            if self._requests:
                self._must_have_workers()
            if until is not None and time.monotonic() >= until:
                return

    def kill(self, remote: ClusterServer) -> None:
        """Nothing: whoever runs it sees to its limits."""

    def stop(self, *remotes: ClusterServer) -> None:
        """Their servers in all workers, unless another command has asked them."""
        gone = [remote for remote in remotes if remote in self.remotes]
        for remote in gone:
            self.remotes.remove(remote)
        self._notify(worker.let_go, {remote.what: remote.identity for remote in gone if remote.hello})

    def close(self) -> None:
        self._requests.clear()
        if self._client is not None and self._futures:
            with contextlib.suppress(Exception):
                self._run(lambda: self._client.cancel([*self._futures.values()]), END_LIMIT)
        self._notify(worker.end)
        self._disconnect()
        self._loop.call_soon_threadsafe(self._loop.stop)

    # --- inside ---

    def _run(self, work: Callable[[], Awaitable[T]], limit: float) -> T:
        """In the loop's thread. Raises TimeoutError after `limit` s."""

        async def done() -> T:
            return await work()

        future = asyncio.run_coroutine_threadsafe(done(), self._loop)
        try:
            return future.result(limit)
        except (LimitError, KeyboardInterrupt):
            future.cancel()
            raise

    def _connect(self, limit: float) -> None:
        """Raises ExecutorError."""

        async def connected() -> Client:
            client = Client(self.address, asynchronous=True, timeout=limit, set_as_default=False, name="upright")
            try:
                await client
            except BaseException:
                with contextlib.suppress(Exception):
                    await asyncio.wait_for(client.close(), 1.0)
                raise
            return client

        try:
            self._client = self._run(connected, limit + 2.0)
        except Exception as error:  # whatever Dask raises of what answers there
            why = "" if isinstance(error, (OSError, LimitError)) else f" ({type(error).__name__}: {_in_a_line(error)})"
            raise _AwayError(f"no Dask scheduler answers at {self.address} within {limit:g} s{why}") from None
        self._connection += 1
        self._seen = time.monotonic()
        asyncio.run_coroutine_threadsafe(self._watch(self._client, self._connection), self._loop)

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        self._futures.clear()
        if client is not None:
            with contextlib.suppress(Exception):
                self._run(client.close, 2.0)

    async def _watch(self, client: Client, connection: int) -> None:
        """Counts the workers, for as long as this is the connection."""
        while self._client is client and client.status in ("running", "connecting"):
            with contextlib.suppress(Exception):
                threads = sum((await client.nthreads()).values())
                if threads:
                    self._threads, self._seen = threads, time.monotonic()
            await asyncio.sleep(WATCH)

    async def _submit(self, number: int) -> None:
        one = self._requests[number]
        header: dict[str, Any] = {
            "session": self._session,
            "word": one.remote.what,
            "identity": one.remote.identity,
            "hello": compared(one.remote.hello or {}),
            "header": one.header,
        }
        assert self._client is not None
        name = f"upright-{self._session}-{number}-{self._connection}"
        future = self._client.submit(worker.answer, json.dumps(header), one.body, key=name, pure=False)
        self._futures[number] = future
        delivery = asyncio.ensure_future(self._deliver(number, future, self._connection))
        self._deliveries.add(delivery)
        delivery.add_done_callback(self._deliveries.discard)

    async def _deliver(self, number: int, future: Future[bytes], connection: int) -> None:
        try:
            event = _Event(number, answer=await future)
        except (CancelledError, asyncio.CancelledError):
            event = _Event(lost=connection)
        except KilledWorker as error:
            died = f"{error.allowed_failures + 1} workers died while they ran it, the last at"
            event = _Event(number, reason=f"{died} {error.last_worker.address}")
        except Exception as error:
            lost = self._client is None or self._client.status != "running" or isinstance(error, OSError)
            why = f"{type(error).__name__}: {_in_a_line(error)}"
            event = _Event(lost=connection) if lost else _Event(number, reason=f"the Dask worker raised {why}")
        self._events.put(event)

    def _taken(self, event: _Event) -> Iterator[Reply]:
        if event.lost:
            if event.lost == self._connection:
                self._reconnect()
            return
        request = self._requests.get(event.number)
        if request is None:  # answered before the scheduler was lost
            return
        if event.answer is None:
            header, body = {"outcome": "crashed", "reason": event.reason}, b""
        else:
            [(header, body)] = Reader().feed(event.answer)
        if "refused" in header:
            raise ExecutorError(f"{request.remote.what}: a worker that came later is another: {header['refused']}")
        if "measure" in request.header and header["outcome"] == "completed" and "measured" not in header:
            raise ExecutorError(f"{request.remote.what}: a worker answers without measurements")
        del self._requests[event.number]
        self._futures.pop(event.number, None)
        request.remote.open_requests.discard(event.number)
        self._losses = 0
        yield Reply(request.remote, event.number, header, body)

    def _reconnect(self) -> None:
        """To the scheduler that is back, and ask it for all that is open."""
        self._losses += 1
        deadline = time.monotonic() + LOST_LIMIT
        gone = f"the Dask scheduler {self.address} was lost"
        if self._losses > MOST_LOSSES:
            raise ExecutorError(f"{gone} {MOST_LOSSES} times without an answer between them")
        while True:
            self._disconnect()
            left = deadline - time.monotonic()
            if left <= 0.0:
                raise ExecutorError(f"{gone} and was not back within {LOST_LIMIT:g} s")
            with contextlib.suppress(_AwayError):
                self._connect(min(left, CONNECT_LIMIT))
                break
            time.sleep(min(0.5, max(0.0, left)))
        for number in sorted(self._requests):  # a worker that is another than those before refuses
            self._run(partial(self._submit, number), CONNECT_LIMIT)

    def _greeted(self, wanted: Mapping[str, str]) -> dict[str, dict[str, Any]]:
        """As `_hellos`, also where workers or the scheduler die meanwhile."""
        deadline = time.monotonic() + GREET_LIMIT
        while True:
            try:
                return self._hellos(wanted, max(0.0, deadline - time.monotonic()))
            except (_AwayError, OSError):  # which a time limit is, too
                if time.monotonic() >= deadline:
                    raise ExecutorError(f"no worker of {self.address} has the engines in {GREET_LIMIT:g} s") from None
                self._must_have_workers()
            if self._client is None or self._client.status != "running":
                self._reconnect()
            time.sleep(0.5)

    def _must_have_workers(self) -> None:
        """Raises ExecutorError where there was none for too long."""
        if time.monotonic() - self._seen > LOST_LIMIT:
            raise ExecutorError(f"the Dask scheduler {self.address} has had no worker for {LOST_LIMIT:g} s")

    def _hellos(self, wanted: Mapping[str, str], limit: float) -> dict[str, dict[str, Any]]:
        """By word, what all workers say of it. Raises ExecutorError, OSError, TimeoutError."""
        assert self._client is not None
        if not wanted:
            return {}
        found = self._run(lambda: self._client.run(worker.greet, self._session, wanted, on_error="return"), limit)
        answers: dict[str, dict[str, Any]] = {}
        for address, answer in found.items():
            if isinstance(answer, str):
                answers[address] = json.loads(answer)
            elif not isinstance(answer, OSError):  # it has died, and another one comes in its place
                raise ExecutorError(f"worker {address} cannot do what is asked: {_in_a_line(answer)}; {SAME}")
        if not answers:
            raise _AwayError(f"no worker of the Dask scheduler {self.address} answers")
        return {word: _agreed(word, {address: one[word] for address, one in answers.items()}) for word in wanted}

    def _notify(self, what: Any, *arguments: Any) -> None:
        """All workers, that something has ended; those that cannot be reached see to it themselves."""
        if self._client is not None and self._client.status == "running":
            with contextlib.suppress(Exception):
                self._run(lambda: self._client.run(what, self._session, *arguments, on_error="ignore"), END_LIMIT)


SAME = "install the same Upright, engines and packages there as here"


def _agreed(word: str, hellos: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """What workers say of an engine, if it is the same. Raises ExecutorError."""
    for address, hello in hellos.items():
        if why := hello.get("differs"):
            raise ExecutorError(f"worker {address} differs: {why}; {SAME}")
        failed = hello.get("error") if any("error" not in one for one in hellos.values()) else None
        if why := hello.get("lacks") or failed:
            raise ExecutorError(f"worker {address} cannot run {word}: {why}; {SAME}")
    (first, hello), *others = hellos.items()
    found: Identity = compared(hello)
    for address, other in others:
        if why := differing(found, compared(other), f"on {first}"):
            raise ExecutorError(f"worker {address} differs in {word}: {why}")
    return hello


def _in_a_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _quiet() -> None:
    """Dask writes of lost connections to standard error: what matters of them is in our own lines."""
    if not os.environ.get("UPRIGHT_DEBUG"):
        dask = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"]
        for name in (*dask, "distributed", "tornado.application", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        warnings.filterwarnings("ignore", module="distributed")
