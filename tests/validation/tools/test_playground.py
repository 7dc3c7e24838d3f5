"""What is done to a scene while it runs on the playground is the scene that is recorded, on every engine that steps."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from validation.engines import present_engines
from validation.running.processes.frames import Reader, pack, receive
from validation.running.processes.pool import own

pytestmark = pytest.mark.slow
SPRING = {"stiffness": 160.0, "damping": 7.5}  # N/m, kg/s: 2 Hz of a kilogram
PULLED, PUSHED, END = range(30, 90), range(96, 120), 150  # frames, one every 1/60 s


class Visitor:
    """Of a playground process of its own."""

    def __init__(self) -> None:
        self.connection, theirs = socket.socketpair()
        command = [*own("validation.tools.playground.serve"), str(theirs.fileno()), str(os.getpid())]
        with theirs:
            self.process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        self.reader = Reader()
        self.heard: dict[str, dict[str, Any]] = {}  # kind -> its latest header
        self.frames = 0

    def ask(self, **message: Any) -> None:
        self.connection.sendall(pack(message))

    def wait(self, enough: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 120
        while not enough():
            assert time.monotonic() < deadline, f"waits for more than {list(self.heard)}"
            for header, _ in receive(self.connection, self.reader):
                assert header["kind"] != "error" and header.get("state") not in ("failed", "declined"), header
                self.heard[header["kind"]] = header
                if header["kind"] == "cut":
                    self.heard.pop("measured", None)
                if header["kind"] == "frames":
                    self.frames = header["first"] + header["count"]

    def measured(self) -> dict[str, Any]:
        self.heard.pop("measured", None)
        self.wait(lambda: "measured" in self.heard)
        return self.heard["measured"]


@pytest.fixture
def visitor() -> Iterator[Visitor]:
    found = Visitor()
    yield found
    found.connection.close()
    assert found.process.wait(10) == 0


@pytest.mark.parametrize("space", ["planar", "spatial"])
@pytest.mark.parametrize("engine", ["pymunk", "box2d", "mujoco", "pybullet", "rapier"])
def test_a_pull_and_a_key_repeat_to_the_last_bit(visitor: Visitor, engine: str, space: str) -> None:
    """Rubber band at the top box, then a thruster upwards; simulated again as recorded, and opened by its address."""
    if engine not in present_engines():
        pytest.skip(f"{engine} is not installed")
    if space == "spatial" and engine in ("pymunk", "box2d"):
        pytest.skip(f"{engine} is planar")
    visitor.ask(do="setup", setup={"scenario": f"stack:n=3,space={space}", "engines": [engine]})
    visitor.wait(lambda: visitor.frames > 0)
    scene = visitor.heard["scene"]
    x, *above = scene["start"][2][: 2 if space == "planar" else 3]
    zeros = [0.0] * len(above)
    pull = {"body": scene["names"][2], "anchor": [0.1, *zeros], "from": [x + 0.1, *above], **SPRING}
    key = {"body": scene["names"][2], "force": [*zeros, 30.0]}
    for frame in range(3, END + 1, 3):
        band = {"pull": pull | {"to": [x + 0.02 * (frame - PULLED.start), *above]}} if frame in PULLED else {}
        visitor.ask(do="advance", until=frame, keys=[key] if frame in PUSHED else [], **band)
    visitor.wait(lambda: visitor.frames > END)
    live = visitor.measured()
    assert live["repeats"] == 0.0, "m, between what was on the screen and the recorded scene"
    record = visitor.heard["record"]
    assert (record["pulls"], record["keys"]) == (1, 1)
    visitor.ask(do="setup", setup=record["address"])
    assert visitor.measured()["bits"] == live["bits"]
