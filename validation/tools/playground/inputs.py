"""What is done to a scene while it runs, recorded by steps: pulls of a band, keys that fire thrusters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scenarios.scene import Scene
from validation.tools.playground.setup import Pull, Setup, SetupError, Thrust, parse_setup

Key = tuple[str, tuple[float, ...]]
"""The body and the force in its axes, N."""


@dataclass(slots=True)
class Inputs:
    """Those of the setup are part of its scene; `pulls` and `thrusts` came after."""

    pulls: list[Pull] = field(default_factory=list)
    pulling: dict[str, Any] | None = None  # a pull that goes on, as `Pull` has it; its points grow
    switched: dict[Key, list[int]] = field(default_factory=dict)  # steps at which a key's thruster goes on, off ...

    @property
    def active(self) -> bool:
        return self.pulling is not None or any(len(steps) % 2 for steps in self.switched.values())

    def take(self, setup: Setup, scene: Scene, asked: int, until: int, message: Mapping[str, Any]) -> bool:
        """What the visitor does from frame `asked` to `until`; whether that changes what was known of the motion.

        Raises SetupError for a pull or a key that is none.
        """
        was_active, step = self.active, asked * setup.every
        changed = self._press(scene, step, message.get("keys") or ())
        wanted = message.get("pull")
        if self.pulling is not None and (wanted is None or wanted.get("body") != self.pulling["body"]):
            self._let_go()
        if wanted is not None and until > asked:
            self._pull(setup, scene, step, until - asked, wanted)
        return changed or (self.active and not was_active)

    def springs(self, setup: Setup, asked: int, until: int) -> list[dict[str, Any]]:
        """That may act between these frames, as JSON data; of their paths what counts there."""
        step, recent = asked * setup.every, until - asked + 2
        pulls = [pull for pull in (*self.pulls, *self._unfinished()) if pull.end >= step]
        return [pull.spring(setup.dt, recent).model_dump(mode="json") for pull in pulls]

    def thrusters(self, setup: Setup) -> list[dict[str, Any]]:
        return [thrust.thruster(setup.dt).model_dump(mode="json") for thrust in self._thrusts()]

    def added_to(self, scene: Scene, dt: float) -> Scene:
        """The setup's scene with what came after."""
        springs = [pull.spring(dt) for pull in (*self.pulls, *self._unfinished())]
        thrusters = [thrust.thruster(dt) for thrust in self._thrusts()]
        if not springs and not thrusters:
            return scene
        more = {"springs": (*scene.springs, *springs), "thrusters": (*scene.thrusters, *thrusters)}
        return scene.model_copy(update=more | ({"format": 2} if springs else {}))

    def recorded(self, setup: Setup, until: int | None) -> Setup:
        """The setup with all of it, or with what was done before a step."""
        pulls = [*setup.pulls, *self.pulls, *self._unfinished()]
        thrusts = [*setup.thrusts, *self._thrusts()]
        if until is not None:
            pulls = [*filter(None, (_pull_until(pull, until) for pull in pulls))]
            thrusts = [*filter(None, (_thrust_until(thrust, until) for thrust in thrusts))]
        return setup.model_copy(update={"pulls": tuple(pulls), "thrusts": tuple(thrusts)})

    # --- inside ---

    def _pull(self, setup: Setup, scene: Scene, step: int, frames: int, wanted: Mapping[str, Any]) -> None:
        to = _point(scene, wanted.get("to"), "pull.to")
        if self.pulling is None:
            began = _point(scene, wanted.get("from"), "pull.from")
            self.pulling = {"start": step, "every": setup.every, "points": [began]}
            self.pulling |= {name: wanted.get(name) for name in ("body", "stiffness", "damping")}
            self.pulling["anchor"] = _point(scene, wanted.get("anchor"), "pull.anchor")
            names = [body.name for body in scene.bodies if not body.fixed]
            if self.pulling["body"] not in names:
                wrong, self.pulling = self.pulling["body"], None
                raise SetupError(f"pull.body: {wrong!r} is no free body of this scene; known: {', '.join(names[:8])}")
            trial = {**self.pulling, "points": [began, to]}
            try:
                parse_setup({"scenario": "-", "pulls": [trial]})
            except SetupError:
                self.pulling = None
                raise
        last = self.pulling["points"][-1]
        for k in range(1, frames + 1):
            share = k / frames
            self.pulling["points"].append(to if k == frames else tuple(a + share * (b - a) for a, b in zip(last, to)))

    def _let_go(self) -> None:
        self.pulls += self._unfinished()
        self.pulling = None

    def _unfinished(self) -> list[Pull]:
        """Its fields were checked when it began, its points one by one."""
        if self.pulling is None or len(self.pulling["points"]) < 2:
            return []
        return [Pull.model_construct(**self.pulling | {"points": tuple(self.pulling["points"])})]

    def _press(self, scene: Scene, step: int, keys: Sequence[Any]) -> bool:
        """Which are down from this step on; whether any changed."""
        down = {_key(scene, one) for one in keys}
        changed = False
        for key in down | set(self.switched):
            steps = self.switched.setdefault(key, [])
            if (key in down) != bool(len(steps) % 2):
                changed = True
                if steps and steps[-1] == step:
                    steps.pop()  # down and up within one frame
                else:
                    steps.append(step)
        return changed

    def _thrusts(self) -> list[Thrust]:
        return [
            Thrust(body=body, force=force, switched=tuple(steps))
            for (body, force), steps in self.switched.items()
            if steps
        ]


def _point(scene: Scene, given: Any, name: str) -> tuple[float, ...]:
    width = len(scene.gravity)
    if not isinstance(given, (list, tuple)) or len(given) != width:
        raise SetupError(f"{name}: {given!r:.40} is no point; allowed: {width} numbers, m")
    if not all(isinstance(c, (int, float)) and abs(c) < 1e6 for c in given):
        raise SetupError(f"{name}: {given!r:.40} is out of range; allowed: -1e6 to 1e6 m")
    return tuple(float(f"{c:.6g}") for c in given)  # no pointer is as fine, and an address stays short


def _key(scene: Scene, given: Any) -> Key:
    names = [body.name for body in scene.bodies if not body.fixed]
    if not isinstance(given, dict) or given.get("body") not in names:
        raise SetupError(f"keys: {given!r:.60} names no free body of this scene")
    force = given.get("force")
    if not isinstance(force, list) or len(force) != len(scene.gravity):
        raise SetupError(f"keys: force {force!r:.40} is none; allowed: {len(scene.gravity)} numbers, N")
    if not all(isinstance(c, (int, float)) and abs(c) < 1e9 for c in force):
        raise SetupError(f"keys: force {force!r:.40} is out of range; allowed: -1e9 to 1e9 N")
    return str(given["body"]), tuple(map(float, force))


def _pull_until(pull: Pull, step: int) -> Pull | None:
    count = (step - pull.start) // pull.every + 1
    return pull.model_copy(update={"points": pull.points[:count]}) if count >= 2 else None


def _thrust_until(thrust: Thrust, step: int) -> Thrust | None:
    """One that is on at that step goes off there."""
    steps = [one for one in thrust.switched if one < step]
    if len(steps) % 2:
        steps.append(step)
    return thrust.model_copy(update={"switched": tuple(steps)}) if steps else None
