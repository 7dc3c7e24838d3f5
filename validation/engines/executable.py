"""An engine in any language: a program that reads one JSON line and writes a trajectory.

    in    {"format": 1, "scene": {...}, "dt": 0.004, "settings": {...}}
    out   the bytes of `validation.records.trajectory.to_bytes`, or one JSON line {"declined": "reason"}

`./program --version` prints its version in the first line; a program that does not is of version "unknown".
`./program --settings` may print {"settings": {name: {"default", "doc", "low", "high", "choices"}}}; without it there is
nothing to set.
"""

import json
import math
import os
import selectors
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scenarios.scene import Scene
from validation.engines.answers import MOST_BYTES
from validation.engines.engine import DeclinedError, Setting, Settings
from validation.engines.shared.lifeline import die_with_parent, ended_by
from validation.records.text import one_line
from validation.records.trajectory import Trajectory, TrajectoryError, from_bytes

FORMAT = 1
PATIENCE = 10.0  # s for --version and --settings; a simulation's own limit is its process's
POLL = 0.05  # s between two looks at whether it has ended, while its pipes stay open
CHUNK = 1 << 18
MOST_PRINTED = MOST_BYTES + 2**20  # of an answer, with its line
MOST_OPTION = 2**20  # bytes of a version or of settings
MOST_ERRORS = 1 << 16  # bytes of standard error: of more, the end
LONGEST_LINE = 400  # characters of its last line there


class ExecutableError(RuntimeError):
    """The program failed or did not answer as agreed; one line."""


class Executable:
    profiles = ("default",)

    def __init__(self, path: str) -> None:
        self.name = path
        self.path = str(Path(path).resolve())
        self.version = (self._ask("--version").splitlines() or ["unknown"])[0].strip() or "unknown"
        self.settings: Mapping[str, Setting] = self._settings()

    def declines(self, scene: Scene) -> str | None:
        """Never: the program itself says so when it is asked to simulate."""
        return None

    def simulate(self, scene: Scene, dt: float, settings: Settings) -> Trajectory:
        """Raises DeclinedError where the program says so, ExecutableError where it fails."""
        question = {"format": FORMAT, "scene": scene.model_dump(mode="json"), "dt": dt, "settings": dict(settings)}
        status, printed, errors = _run([self.path], json.dumps(question).encode() + b"\n", math.inf, MOST_PRINTED)
        if status != 0:
            words = errors.decode(errors="replace").strip().splitlines()
            last = f": {one_line(words[-1], LONGEST_LINE)}" if words else ""
            raise ExecutableError(f"{self.name} ended by {ended_by(status)}{last}")
        if "declined" in (answer := _object(printed)):
            reason = answer["declined"]
            if not isinstance(reason, str) or not reason.strip():
                raise ExecutableError(f"{self.name}: declined is {reason!r:.60}; it should be the reason as text")
            raise DeclinedError(reason)
        try:
            return from_bytes(printed)
        except TrajectoryError as error:
            raise ExecutableError(f"{self.name} wrote no trajectory: {error}") from None

    def _settings(self) -> dict[str, Setting]:
        table = _object(self._ask("--settings").encode()).get("settings", {})
        try:
            return {
                name: Setting(**({"doc": ""} | row | {"choices": tuple(row.get("choices", ()))}))
                for name, row in table.items()
            }
        except (TypeError, AttributeError) as error:
            raise ExecutableError(f"{self.name} --settings: not a table of settings ({error})") from None

    def _ask(self, option: str) -> str:
        """What the program prints for an option; empty where it does not know the option."""
        status, printed, _ = _run([self.path, option], b"", PATIENCE, MOST_OPTION)
        return printed.decode(errors="replace") if status == 0 else ""


def _run(command: list[str], question: bytes, patience: float, most: int) -> tuple[int, bytes, bytes]:
    """Exit status (below 0: a signal), standard output, and the end of standard error; killed after `patience`, s.

    What it leaves behind may keep the pipes open, so it has ended when its process has. Raises ExecutableError.
    """
    parent, name = os.getpid(), command[0]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            preexec_fn=lambda: die_with_parent(parent),  # safe: a simulation's process has one thread
        )
    except OSError as error:
        raise ExecutableError(f"{name} cannot be started: {error.strerror}") from None
    assert process.stdin and process.stdout and process.stderr
    asking, answering, complaining = process.stdin.fileno(), process.stdout.fileno(), process.stderr.fileno()
    found, view = {answering: bytearray(), complaining: bytearray()}, memoryview(question)
    deadline = time.monotonic() + patience
    with process, selectors.DefaultSelector() as selector:
        for pipe in (asking, answering, complaining):
            os.set_blocking(pipe, False)
            selector.register(pipe, selectors.EVENT_WRITE if pipe == asking else selectors.EVENT_READ)
        while selector.get_map() and len(found[answering]) <= most and time.monotonic() < deadline:
            ended = process.poll() is not None  # before the pipes are read: then they have all that it wrote
            ready = [key.fd for key, _ in selector.select(0.0 if ended else POLL)]
            for pipe in ready:
                if pipe == asking:
                    view = _given(pipe, view)
                    done = not view
                else:
                    data = os.read(pipe, CHUNK)
                    found[pipe] += data
                    done = not data
                if done:
                    selector.unregister(pipe)
                    if pipe == asking:
                        process.stdin.close()
            del found[complaining][:-MOST_ERRORS]
            if ended and not ready:
                break
        if (size := len(found[answering])) > most:
            process.kill()
            raise ExecutableError(
                f"{name} killed at {size / 2**20:.0f} MiB of an answer; allowed: {most / 2**20:.0f} MiB"
            )
        try:
            status = process.wait(max(0.0, deadline - time.monotonic()) if patience < math.inf else None)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
    return status, bytes(found[answering]), bytes(found[complaining])


def _given(pipe: int, view: memoryview) -> memoryview:
    """What is still to be written; nothing where nobody reads any more."""
    try:
        return view[os.write(pipe, view[:CHUNK]) :]
    except BlockingIOError:
        return view
    except OSError:
        return view[:0]


def _object(output: bytes) -> dict[str, Any]:
    """The JSON object in the first line; empty where there is none."""
    try:
        found = json.loads(output.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
