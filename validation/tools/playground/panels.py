"""One engine on the playground: moved on live or computed ahead, then simulated as recorded, and measured."""

from __future__ import annotations

import json
import math
import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from reference_engine.array_types import Array
from scenarios.scene import write_scene
from validation.engines import EngineChoice, EngineNameError, engine_of
from validation.engines.engine import Setting
from validation.records.measurement import Measurement
from validation.records.outcome import outcome_of
from validation.records.trajectory import Trajectory, TrajectoryError, from_bytes
from validation.running.processes.executor import Reply
from validation.running.processes.pool import Remote
from validation.running.runner import Limits
from validation.tools.playground.frames import frames_of
from validation.tools.playground.sliders import sliders_of_engine
from validation.tools.playground.words import describe_measured

if TYPE_CHECKING:
    from validation.tools.playground.session import Session

State = Literal["starting", "planning", "running", "declined", "failed"]
TIME_LIMIT = 60.0  # s of wall-clock time for what is asked at once
SOON = 30  # frames: a first piece computed ahead is at most so long
FURTHER = 4  # times as far with the next one


@dataclass(slots=True, eq=False)
class Panel:
    session: Session
    index: int
    label: str
    choice: EngineChoice | None
    state: State = "starting"
    reason: str = ""
    remote: Remote | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    until: int = 0  # a live one goes there at once
    plan: int | None = None  # numbers of requests that are under way
    live: int | None = None
    ahead: int | None = None
    whole: int | None = None
    measuring: int | None = None
    frames: int = 0  # of them were shown
    horizon: int = 0  # the frame to which `ahead` computes
    asked_at: float = 0.0
    took: float = 0.0  # s, by the last piece computed ahead
    moved: bool = True  # whether what is recorded is other than what was simulated whole
    seen: list[Trajectory] = field(default_factory=list)  # what a live one has shown
    motion: Trajectory | None = None  # of the scene as recorded

    @classmethod
    def begun(cls, session: Session, index: int, word: str, before: Panel | None, frame: int) -> Panel:
        """With the server of the one that was here before, where it is the same engine."""
        try:
            choice = engine_of(word)
            # Whoever reaches the page would have a module of their choice imported, or a program run.
            named = os.environ.get("UPRIGHT_PLAY_ENGINES", "").splitlines()
            if (choice.kind != "registered" or choice.version is not None) and choice.word not in named:
                raise EngineNameError(
                    f"engine {word!r} is not registered; name it to play with it: upright play -e {word}"
                )
        except EngineNameError as error:
            panel = cls(session, index, word, None, state="failed", reason=str(error))
            panel.show()
            return panel
        panel = cls(session, index, word, choice, until=frame)
        remotes = {remote.what: remote for remote in session.pool.remotes}
        panel.remote = remotes.get(choice.word) or session.pool.start_engine(choice.word)
        return panel

    @property
    def hello(self) -> dict[str, Any]:
        return (self.remote.hello if self.remote else None) or {}

    @property
    def steps(self) -> bool:
        return bool(self.hello.get("steps"))

    def stop(self) -> None:
        """End what is under way; the engine's server stays."""
        self._end(self.plan, self.live, self.ahead, self.whole)
        self.plan = self.live = self.ahead = self.whole = self.measuring = None

    def _end(self, *numbers: int | None) -> None:
        for number in numbers:
            if number is not None and self.remote is not None and number in self.remote.open_requests:
                self.session.pool.add(self.remote, number, {"end": True})

    # --- what it does next ---

    def go_on(self, *, idle: bool) -> None:
        if self.state == "starting" and self.remote is not None and self.remote.hello is not None:
            if "error" in self.hello:
                self.fail(self.hello["error"])
                return
            self._plan()
        if self.state != "running":
            return
        if not self.steps:
            self._compute_ahead()
        if idle or self.frames > SOON:
            self._simulate_whole()

    def cut(self, frame: int) -> None:
        """Something happens from this frame on that was not known."""
        self.moved = True
        self._end(self.ahead, self.whole)
        self.ahead = self.whole = self.measuring = self.motion = None
        if self.state == "running":  # what was measured is void too, of a live one as well
            self.frames = min(self.frames, frame + 1)
            self.session.send({"kind": "cut", "panel": self.index, "frame": frame + 1})

    def advance(self) -> None:
        """Live: on to the frame that was asked for."""
        session = self.session
        if session.inputs.active:
            self.moved = True
        if self.live is None or self.state != "running":
            return
        assert self.remote is not None and session.setup is not None
        setup, begun = session.setup, max(self.until, 0)
        if session.asked <= begun:
            return
        message = {
            "until": session.asked * setup.every,
            "springs": session.inputs.springs(setup, begun, session.asked),
            "thrusters": session.inputs.thrusters(setup),
        }
        self.until = session.asked
        session.pool.add(self.remote, self.live, message)

    def _plan(self) -> None:
        assert self.remote is not None and self.session.setup is not None
        assert self.choice is not None
        known = self.hello.get("profiles", ["default"])
        profile = self.choice.profile or ("fair" if "fair" in known else known[0])
        item = {
            "scene": write_scene(self.session.scene, indent=None),
            "dt": self.session.setup.dt,
            "profile": profile,
            "overrides": dict(self.choice.overrides),
        }
        self.state = "planning"
        self.plan = self.session.pool.ask(
            self.remote, {"plan": 1, "time_limit": TIME_LIMIT}, json.dumps([item]).encode()
        )

    def _start(self, planned: dict[str, Any]) -> None:
        if reason := planned.get("error") or planned.get("unavailable"):
            self.fail(reason)
        elif reason := planned.get("declined"):
            self.state, self.reason = "declined", reason
        else:
            self.settings, self.state = planned["settings"], "running"
            if self.steps:
                self._go_live()
        self.show()

    def _go_live(self) -> None:
        setup = self.session.setup
        assert setup is not None and self.remote is not None
        self.live = self._ask({"live": setup.every}, write_scene(self.session.scene, indent=None))
        if self.until:
            self.session.pool.add(self.remote, self.live, {"until": self.until * setup.every})
        self.advance()

    def _ask(self, header: dict[str, Any], scene_text: str) -> int:
        setup = self.session.setup
        assert setup is not None and self.remote is not None
        common = {"dt": setup.dt, "settings": self.settings}
        common |= {"time_limit": TIME_LIMIT, "memory_limit": Limits().memory_limit}
        return self.session.pool.ask(self.remote, common | header, scene_text.encode())

    def _compute_ahead(self) -> None:
        """A piece further than what is shown; while somebody does something, as far as that is known."""
        session = self.session
        known = session.asked if session.inputs.active else session.last
        if self.ahead is not None or self.whole is not None or self.frames > known or known < 1:
            return
        self.horizon = known if session.inputs.active else min(known, max(SOON, FURTHER * self.frames))
        if self.horizon == session.last:
            self._simulate_whole()
            return
        scene = session.inputs.added_to(session.scene, self._dt)
        self.asked_at = time.monotonic()
        piece = scene.model_copy(update={"duration": self.horizon * self._every * self._dt})
        self.ahead = self._ask({}, write_scene(piece, indent=None))

    def _simulate_whole(self) -> None:
        """What is recorded, once, when nobody does anything."""
        if self.whole is not None or not self.moved or self.session.inputs.active:
            return
        self.moved, self.motion = False, None
        self.asked_at = time.monotonic()
        self.whole = self._ask({}, write_scene(self.session.recorded_scenario().scene, indent=None))

    # --- what comes back ---

    def take(self, reply: Reply) -> None:
        if reply.id == self.measuring and reply.remote is self.session.measurer:
            self.measuring = None
            self._show_measured(reply.header)
        if reply.remote is not self.remote:
            return
        if reply.id == self.plan:
            self.plan = None
            self._start((reply.header.get("plans") or [{"unavailable": reply.header.get("reason", "no answer")}])[0])
        elif reply.id == self.live:
            if reply.header.get("more"):
                self._take_live(reply)
            else:
                self.live = None
                self.fail(reply.header.get("reason", "it ended"))
        elif reply.id in (self.ahead, self.whole):
            self._take_motion(reply)

    def _take_live(self, reply: Reply) -> None:
        if not reply.body:
            return
        motion = from_bytes(reply.body)
        self.seen.append(motion)
        setup = self.session.setup
        assert setup is not None
        first = round(float(motion.time[0]) / setup.dt) // setup.every
        self._show_frames(motion, first, motion.time)

    def _take_motion(self, reply: Reply) -> None:
        is_whole = reply.id == self.whole
        self.took = time.monotonic() - self.asked_at
        if is_whole:
            self.whole = None
        else:
            self.ahead = None
        if reply.header.get("outcome") != "completed":
            if reply.header.get("outcome") != "ended":
                self.fail(f"{reply.header.get('outcome')}: {reply.header.get('reason')}".replace("_", " "))
            return
        size = reply.header["trajectory_bytes"]
        try:
            motion = from_bytes(reply.body[:size])
        except TrajectoryError as error:
            self.fail(str(error))
            return
        last = self.session.last
        if not self.steps and self.frames <= (last if is_whole else self.horizon):
            first, until = self.frames, last if is_whole else self.horizon
            times = np.array([k * self._every * self._dt for k in range(first, until + 1)])
            self._show_frames(motion, first, np.minimum(times, motion.time[-1]))
        if is_whole and not self.moved:
            self.motion = motion
            self._measure(reply.body[:size])

    @property
    def _every(self) -> int:
        assert self.session.setup is not None
        return self.session.setup.every

    @property
    def _dt(self) -> float:
        assert self.session.setup is not None
        return self.session.setup.dt

    def _measure(self, body: bytes) -> None:
        """By the measuring process, of the scene as recorded."""
        session = self.session
        scenario = session.recorded_scenario()
        request: dict[str, Any] = {"name": scenario.name, "parameters": dict(scenario.parameters)}
        if scenario.from_file:
            request["scene"] = json.loads(write_scene(scenario.scene, indent=None))
        self.measuring = session.pool.ask(session.measurer, request, body)

    # --- what it shows ---

    def _show_frames(self, motion: Trajectory, first: int, times: Array) -> None:
        scenario = self.session.scenario
        assert scenario is not None
        header, body = frames_of(scenario, motion, first, times).message()
        self.frames = max(self.frames, first + len(times)) if self.steps else first + len(times)
        self.session.send({"kind": "frames", "panel": self.index, "took": self.took, **header}, body)

    def _show_measured(self, header: dict[str, Any]) -> None:
        if self.motion is None or "error" in header:
            if "error" in header:
                self.session.send({"kind": "measured", "panel": self.index, "error": header["error"].splitlines()[-1]})
            return
        scenario = self.session.recorded_scenario()
        measurements = [Measurement(**row) for row in header["measurements"]]
        outcomes = [outcome_of(row) for row in header["outcomes"]]
        self.session.send(
            {
                "kind": "measured",
                "panel": self.index,
                "bits": self.motion.state_hash[:16],
                "repeats": self.difference(),
                **describe_measured(scenario, measurements, outcomes),
            }
        )

    def difference(self) -> float | None:
        """m: how far from the motion as recorded a body was on the screen, at most; None: nothing was to be seen."""
        if not self.seen or self.motion is None:
            return None
        most, found = 0.0, False
        positions = {float(t): k for k, t in enumerate(self.motion.time)}
        for chunk in self.seen:
            for k, t in enumerate(chunk.time.tolist()):
                if (j := positions.get(t)) is not None:
                    found = True
                    most = max(most, float(np.abs(chunk.position[k] - self.motion.position[j]).max(initial=0.0)))
        return most if found and math.isfinite(most) else None

    def fail(self, reason: str) -> None:
        self.state, self.reason = "failed", reason
        self.show()

    def show(self) -> None:
        table = {
            name: Setting(**{**row, "choices": tuple(row["choices"])})
            for name, row in self.hello.get("table", {}).items()
        }
        given = dict(self.choice.overrides) if self.choice else {}
        profile = self.choice.profile if self.choice else None
        self.session.send(
            {
                "kind": "panel",
                "panel": self.index,
                "label": self.label,
                "state": self.state,
                "reason": self.reason,
                "version": self.hello.get("version", ""),
                "live": self.steps,
                "profiles": self.hello.get("profiles", []),
                "profile": profile or ("fair" if "fair" in self.hello.get("profiles", []) else "default"),
                "sliders": sliders_of_engine(self.label, table, self.settings, given),
            }
        )
