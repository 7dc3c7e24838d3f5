"""One visitor's playground: runs a setup on its engines, frame by frame, and measures what came out.

It speaks frames over a socket with whoever shows them. Asked, as `do`:
    setup      a setup, or the text of an address: begin with it; scene, panels, frames and measurements follow
    change     of what is recorded now, what is other: quantities, engines, bodies by name
    advance    until which frame, the point that a band is pulled to, the keys that are pressed
    rewind     to which frame: what was done after it is forgotten
    take       the scene as file, command and Python
    share      a setup too long for an address: its scene is stored
Answered, as `kind`: scene, panel, frames, cut (frames from there on are void), measured, record, taken, error.

Engines that step run live, in lock-step with what is asked. Those that make the whole motion at once are computed
ahead, further with each try; while somebody pulls, as far as is known. Every motion is then simulated once more, as
the scene that was recorded, and measured: what was on the screen has to be that motion to the last bit.
"""

import os
import socket
import time
from typing import Any

from scenarios.scenario import Scenario
from scenarios.scene import Scene, content_hash
from validation.running.processes.frames import ClosedError, Reader, pack
from validation.running.processes.pool import Pool
from validation.store.errors import StoreError
from validation.tools.playground import taking
from validation.tools.playground.inputs import Inputs
from validation.tools.playground.panels import Panel
from validation.tools.playground.picture import picture_of
from validation.tools.playground.setup import Setup, SetupError, packed, parse_setup, scenario_in, unpacked
from validation.tools.playground.sliders import sliders_of

IDLE = 0.3  # s without a question, after which motions are measured


class Session:
    def __init__(self, connection: socket.socket, pool: Pool, first: list[dict[str, Any]]) -> None:
        """`first`: what was asked already."""
        self.connection, self.pool, self.first = connection, pool, first
        self.reader = Reader()
        self.measurer = next(remote for remote in pool.remotes if remote.what == "measuring")
        self.setup: Setup | None = None
        self.scenario: Scenario | None = None
        self.inputs = Inputs()
        self.panels: list[Panel] = []
        self.asked = 0  # the frame until which live engines were moved on
        self.heard = time.monotonic()
        pool.also(connection)

    def serve(self) -> None:
        """Until the other side closes the connection."""
        while True:
            for reply in self.pool.wait(0.0 if self.first else IDLE):
                for panel in self.panels:
                    panel.take(reply)
            for message in self.questions():
                self.heard = time.monotonic()
                try:
                    self.answer(message)
                except SetupError as error:
                    self.send({"kind": "error", "text": str(error)})
            idle = time.monotonic() - self.heard > IDLE
            for panel in self.panels:
                panel.go_on(idle=idle)

    def questions(self) -> list[dict[str, Any]]:
        if self.first:
            first, self.first = self.first, []
            return first
        try:
            data = self.connection.recv(1 << 20, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return []
        if not data:
            raise ClosedError
        return [header for header, _ in self.reader.feed(data)]

    def answer(self, message: dict[str, Any]) -> None:
        match message.get("do"):
            case "setup":
                given = message.get("setup")
                self.begin(unpacked(given) if isinstance(given, str) else parse_setup(given))
            case "change" if self.setup:
                self.begin(changed(self.recorded(), message.get("set")))
            case "advance" if self.setup:
                self.advance(message)
            case "rewind" if self.setup:
                self.begin(self.recorded(until=int(message["frame"])), frame=int(message["frame"]))
            case "take" if self.setup and self.scenario:
                self.send({"kind": "taken", **taking.taken(self.recorded(), self.recorded_scenario())})
            case "share" if self.setup:
                self.share(str(message.get("refusal", "This dashboard writes nothing.")))
            case other:
                self.send({"kind": "error", "text": f"{other!r} is not possible now; begin with a setup"})

    # --- setups ---

    def begin(self, setup: Setup, frame: int = 0) -> None:
        """Build it, show it, and start its engines; live ones go to a frame at once. Raises SetupError."""
        began = time.perf_counter()
        scenario = scenario_in(setup, self.fetch)
        self.setup, self.scenario, self.inputs = setup, scenario, Inputs()
        self.asked = frame
        old = {panel.label: panel for panel in self.panels}
        for panel in self.panels:
            panel.stop()
        self.send(
            {
                "kind": "scene",
                "title": scenario.title,
                "label": scenario.label,
                "hash": content_hash(scenario.scene),
                "setup": setup.model_dump(mode="json", exclude_defaults=True) | {"engines": setup.engines},
                "frames": self.last,
                "interval": setup.every * setup.dt,
                "at": frame,
                "sliders": sliders_of(setup, scenario),
                **picture_of(scenario.scene),
            }
        )
        self.panels = [Panel.begun(self, index, word, old.get(word), frame) for index, word in enumerate(setup.engines)]
        for panel in self.panels:
            panel.go_on(idle=False)
        self.record()
        self.send({"kind": "begun", "seconds": time.perf_counter() - began})

    def recorded(self, until: int | None = None) -> Setup:
        """The setup with what was done so far, or before a frame."""
        assert self.setup is not None
        return self.inputs.recorded(self.setup, None if until is None else until * self.setup.every)

    def recorded_scenario(self) -> Scenario:
        return scenario_in(self.recorded(), self.fetch)

    def fetch(self, scene_hash: str) -> Scene:
        from validation.store import open_store  # a second to import, which few setups need

        try:
            with open_store(database()) as store:
                return store.scene(scene_hash)
        except StoreError as error:
            raise SetupError(str(error)) from None

    # --- while it runs ---

    def advance(self, message: dict[str, Any]) -> None:
        assert self.setup is not None and self.scenario is not None
        until = min(int(message["until"]), self.last)
        before = self.inputs.active
        began = self.inputs.take(self.setup, self.scene, self.asked, until, message)
        if began:
            for panel in self.panels:
                panel.cut(self.asked)
        if until > self.asked:
            self.asked = until
            for panel in self.panels:
                panel.advance()
        if before and not self.inputs.active:
            self.record()

    def record(self) -> None:
        """What stands in the address: all of it, where it is short enough."""
        setup = self.recorded()
        text = packed(setup)
        self.send({"kind": "record", "address": text, "pulls": len(setup.pulls), "keys": len(setup.thrusts)})

    def share(self, refusal: str) -> None:
        """Its scene goes into the database; raises SetupError where this visitor may write nothing, with the reason."""
        if refusal:
            raise SetupError(f"{refusal} Nothing was stored; take the scene as a file.")
        from validation.store import open_store

        setup, scene = self.recorded(), self.recorded_scenario().scene
        try:
            with open_store(database()) as store:
                stored = store.store_scene(scene)
        except StoreError as error:
            raise SetupError(str(error)) from None
        short = Setup(stored=stored, dt=setup.dt, engines=setup.engines)
        self.send({"kind": "record", "address": packed(short), "pulls": 0, "keys": 0, "stored": stored})

    def send(self, header: dict[str, Any], body: bytes = b"") -> None:
        self.connection.sendall(pack(header, body))

    @property
    def scene(self) -> Scene:
        assert self.scenario is not None
        return self.scenario.scene

    @property
    def last(self) -> int:
        """The last frame."""
        assert self.setup is not None
        return max(1, round(self.scene.duration / self.setup.dt) // self.setup.every)


def changed(setup: Setup, given: Any) -> Setup:
    """Of another scenario nothing else is kept but the engines; with another step what was recorded by steps goes.

    Raises SetupError.
    """
    if not isinstance(given, dict):
        raise SetupError(f"set: {given!r:.40} is no change; give names and values")
    data = setup.model_dump(mode="json", exclude_defaults=True)
    if "scenario" in given:
        data = {name: data[name] for name in ("engines", "dt") if name in data}
    if "dt" in given:
        data |= {"pulls": [], "thrusts": []}
    if isinstance(bodies := given.get("bodies"), dict):
        before = data.get("bodies", {})
        both = {name: {**before.get(name, {}), **change} for name, change in bodies.items() if isinstance(change, dict)}
        given = {**given, "bodies": {**before, **both}}
    return parse_setup(data | given)


def database() -> str:
    return os.environ.get("UPRIGHT_DB", "upright.db")
