"""What runs engines and measures: one interface to processes of this machine and to those of a cluster.

`pool.Pool` starts them here; `validation.running.cluster.pool.ClusterPool` has them in the workers of a Dask cluster.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self

MEASURING = "measuring"  # what a server is called that measures


class Server(Protocol):
    """What answers requests: of one engine, or measuring."""

    @property
    def what(self) -> str:
        """The engine's word, or MEASURING."""

    @property
    def hello(self) -> dict[str, Any] | None:
        """What it can do, or {"error": why it is not there}; None before it is greeted."""

    @property
    def open_requests(self) -> Collection[int]:
        """Ids of those that are not answered."""


@dataclass(frozen=True, slots=True)
class Reply:
    remote: Server
    id: int
    header: dict[str, Any]
    body: bytes


class Executor(Protocol):
    """Use as a context manager: leaving it ends all that is asked for."""

    @property
    def elsewhere(self) -> bool:
        """On other machines: times do not compare, limits are seen to there, and a simulation that is asked for with
        "measure" (the header for measuring, see `measure_server`) has "measured" in its reply."""

    @property
    def remotes(self) -> Sequence[Server]:
        """Those that can be asked."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def at_once(self, workers: int) -> int:
        """How many simulations run at once, where so many `workers` are wanted on this machine."""

    def start_engine(self, word: str) -> Server: ...

    def start_measuring(self) -> Server: ...

    def greet(self, remotes: list[Any]) -> None:
        """Wait until `hello` of each has what it says."""

    def ask(self, remote: Any, header: dict[str, Any], body: bytes = b"") -> int:
        """Send a request; its answer comes out of `wait` with the id returned here."""

    def wait(self, timeout: float | None = None) -> Iterator[Reply]:
        """Replies that have come, after at most one wait of so many s; each request gets one."""

    def kill(self, remote: Any) -> None:
        """A server that does not answer: what is open with it is answered "crashed"."""

    def stop(self, *remotes: Any) -> None:
        """End these."""

    def close(self) -> None:
        """End all."""
