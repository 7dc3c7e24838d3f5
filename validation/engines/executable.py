"""An engine in any language: a program that reads one JSON line and writes a trajectory.

    in    {"format": 1, "scene": {...}, "dt": 0.004, "settings": {...}}
    out   the bytes of `validation.records.trajectory.to_bytes`, or one JSON line {"declined": "reason"}

`./program --version` prints its version in the first line; a program that does not is of version "unknown".
`./program --settings` may print {"settings": {name: {"default", "doc", "low", "high", "choices"}}}; without it there is
nothing to set.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scenarios.scene import Scene
from validation.engines.engine import DeclinedError, Setting, Settings
from validation.engines.shared.lifeline import die_with_parent, ended_by
from validation.records.trajectory import Trajectory, TrajectoryError, from_bytes

FORMAT = 1
PATIENCE = 10.0  # s for --version and --settings; a simulation's own limit is its process's


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
        parent = os.getpid()
        done = subprocess.run(
            [self.path],
            input=json.dumps(question).encode() + b"\n",
            capture_output=True,
            preexec_fn=lambda: die_with_parent(parent),  # safe: a simulation's process has one thread
            check=False,
        )
        if done.returncode != 0:
            words = done.stderr.decode(errors="replace").strip().splitlines()
            raise ExecutableError(
                f"{self.name} ended by {ended_by(done.returncode)}" + (f": {words[-1]}" if words else "")
            )
        if (reason := _object(done.stdout).get("declined")) is not None:
            raise DeclinedError(str(reason))
        try:
            return from_bytes(done.stdout)
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
        try:
            done = subprocess.run(
                [self.path, option], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False
            )
        except subprocess.TimeoutExpired:
            return ""
        except OSError as error:
            raise ExecutableError(f"{self.name} cannot be started: {error.strerror}") from None
        return done.stdout.decode(errors="replace") if done.returncode == 0 else ""


def _object(output: bytes) -> dict[str, Any]:
    """The JSON object in the first line; empty where there is none."""
    try:
        found = json.loads(output.partition(b"\n")[0])
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
