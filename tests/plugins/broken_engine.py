"""An engine that breaks on purpose, found through the entry-point group by putting this folder on the path.

`fault` says how: it crashes, hangs, eats memory, returns NaN, raises, prints, leaves a child behind, stops halfway,
or gains energy when two bodies touch. Without a fault it is pymunk.
"""

from __future__ import annotations

import ctypes
import dataclasses
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from validation.engines.engine import Setting
from validation.engines.pymunk.adapter import Pymunk

FAULTS = (
    "none",
    "segfault",
    "hang",
    "hang-in-c",
    "memory",
    "nan",
    "raise",
    "exit",
    "chatter",
    "grandchild",
    "emigrant",
    "daemon",
    "lingers",
    "forks-on",
    "stops-server",
    "gain",
    "stops",
)
KICK = 3.0  # m/s, upward, to both bodies of a pair that meets


class Broken(Pymunk):
    """pymunk, with a fault of your choice."""

    name = "broken"
    version = "1.0"
    settings: ClassVar = {
        "fault": Setting(default="none", doc="How it breaks.", choices=FAULTS),
        "patience": Setting(default=3600.0, doc="Seconds that a hang lasts.", low=0.0, high=1e6),
    }
    profiles = ("default",)

    def profile(self, name: str, scene: Any, dt: float) -> dict[str, Any]:
        return {}

    def simulate(self, scene: Any, dt: float, settings: Any) -> Any:
        pymunk = Pymunk()
        defaults = {name: setting.default for name, setting in pymunk.settings.items()}
        fault, patience = settings["fault"], settings["patience"]
        if fault == "segfault":
            ctypes.string_at(0)
        if fault == "hang":
            time.sleep(patience)
        if fault == "hang-in-c":  # holds the interpreter's lock, as pybullet does
            ctypes.PyDLL(None).usleep(int(1e6 * min(patience, 2000.0)))
        if fault == "memory":
            hoard = []
            while True:
                hoard.append(np.ones(2**21))  # 16 MiB, touched
                time.sleep(0.002)
        if fault == "raise":
            raise ValueError("the contact graph\nhas a cycle")
        if fault == "exit":
            os._exit(3)
        if fault == "chatter":
            print("engine build time: today")
            print("a warning", file=sys.stderr)
        if fault in ("grandchild", "emigrant"):  # the latter in a session of its own
            subprocess.Popen(["sleep", str(patience)], start_new_session=fault == "emigrant")
            time.sleep(patience)
        if fault == "daemon":  # which has its parent's pipes, and a session of its own
            detached(patience)
        if fault == "lingers":  # likewise, and goes on a while later
            detached(patience)
            time.sleep(0.5)
        if fault == "forks-on":
            detached(patience, forks_on)
            os.kill(os.getppid(), signal.SIGKILL)
        if fault == "stops-server":
            os.kill(os.getppid(), signal.SIGSTOP)
        trajectory = pymunk.simulate(scene, dt, defaults | pymunk.profile("fair", scene, dt))
        if fault == "nan":
            pose = np.array(trajectory.pose)
            pose[len(pose) // 2 :, 0, 0] = np.nan
            trajectory = dataclasses.replace(trajectory, pose=pose)
        if fault == "stops":
            trajectory = pymunk.simulate(scene.model_copy(update={"duration": 0.5}), dt, defaults)
        if fault == "gain":
            trajectory = kicked(scene, trajectory)
        return trajectory


def detached(patience: float, do: Callable[[float], None] | None = None) -> None:
    """A process that waits so many seconds, or does something for them, and is nobody's child."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            if do is not None:
                do(patience)
            subprocess.run(["sleep", str(patience)], close_fds=False, check=False)
        os._exit(0)


def forks_on(patience: float) -> None:
    """Every millisecond another process, whose parent ends."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        if os.fork():
            os._exit(0)
        time.sleep(0.001)
    os._exit(0)


class Confused(Pymunk):
    """Fails at the question whether it can represent several bodies."""

    name = "confused"

    def declines(self, scene: Any) -> str | None:
        if len(scene.bodies) > 1:
            raise RuntimeError("no pair\nis known")
        return super().declines(scene)


def kicked(scene: Any, trajectory: Any) -> Any:
    """From the first time at which the circles around two free bodies meet, both have an upward speed too many."""
    from scenarios.mass import bounding_radius

    free = [i for i, body in enumerate(scene.bodies) if not body.fixed]
    twist = np.array(trajectory.twist)
    for i in free:
        for j in (j for j in free if j > i):
            apart = np.linalg.norm(trajectory.position[:, i] - trajectory.position[:, j], axis=1)
            near = bounding_radius(scene.bodies[i].shape) + bounding_radius(scene.bodies[j].shape)
            met = apart < near - 1e-6  # m: discs that touch meet, or do not, by round-off
            if met.any():
                first = int(np.argmax(met))
                twist[first:, [i, j], 1] += KICK
    return dataclasses.replace(trajectory, twist=twist, state_hash="")
