"""A Dask cluster of processes, for tests and benchmarks: what ends is started again, as a service manager does."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil

DASK = [sys.executable, "-P", "-m", "dask"]
START_LIMIT = 60.0  # s
END_LIMIT = 20.0  # s
PAUSE = 0.2  # s until what has ended is started again


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


class Cluster:
    """A scheduler, and services of one worker process each."""

    def __init__(self, folder: Path, workers: int, environment: Mapping[str, str]) -> None:
        self.folder, self.environment = folder, {**os.environ, **environment}
        self.port = free_port()
        self.address = f"dask://127.0.0.1:{self.port}"
        host = ["--host", "127.0.0.1", "--no-dashboard"]
        self.commands: dict[str, list[str]] = {"scheduler": [*DASK, "scheduler", *host, "--port", str(self.port)]}
        own = ["--nthreads", "1", "--death-timeout", "30", "--local-directory", str(folder), "--no-nanny"]
        for number in range(workers):
            self.commands[f"worker {number}"] = [*DASK, "worker", f"tcp://127.0.0.1:{self.port}", *host, *own]
        self.others: dict[str, dict[str, str]] = {}  # environments of those that have their own
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.starts = 0
        self._ending = threading.Event()
        self._supervisor = threading.Thread(target=self._supervise)

    def start(self) -> None:
        for name in self.commands:
            self._start(name)
        self._supervisor.start()
        deadline = time.monotonic() + START_LIMIT
        while not self._is_open():
            assert time.monotonic() < deadline, "the scheduler does not answer"
            time.sleep(0.1)

    def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        self.running[name].send_signal(number)

    def add_worker(self, **environment: str) -> str:
        """With more variables than the others have; its name."""
        name = f"worker {len(self.workers())}"
        self.commands[name] = self.commands["worker 0"]
        self.others[name] = {**self.environment, **environment}
        self._start(name)
        return name

    def workers(self) -> list[str]:
        return [name for name in self.commands if name != "scheduler"]

    def servers(self) -> list[psutil.Process]:
        """What the workers have started, at any depth."""
        found = []
        for name in self.workers():
            with contextlib.suppress(psutil.NoSuchProcess):
                found += psutil.Process(self.running[name].pid).children(recursive=True)
        return found

    def end(self) -> None:
        self._ending.set()
        self._supervisor.join()
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            try:
                process.wait(END_LIMIT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _is_open(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1.0):
            return True
        return False

    def _start(self, name: str) -> None:
        self.starts += 1
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                self.commands[name],
                cwd=self.folder,
                env=self.others.get(name, self.environment),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _supervise(self) -> None:
        while not self._ending.wait(PAUSE):
            for name, process in list(self.running.items()):
                if process.poll() is not None:
                    self._start(name)


@contextmanager
def cluster(folder: Path, workers: int = 2, **environment: str) -> Iterator[Cluster]:
    """Its logs are in the folder."""
    made = Cluster(folder, workers, environment)
    try:
        made.start()
        yield made
    finally:
        made.end()
