"""What an engine answers is checked before anybody relies on it: types, shapes, numbers, order. One line each.

A wrong answer ends its own case only, with what it should be.
"""

import difflib
import math
from collections.abc import Callable, Collection, Mapping
from types import NoneType
from typing import Any, get_args

import numpy as np

from scenarios.features import known_features
from scenarios.scene import Scene
from validation.engines.engine import DOUBLE, Ability, Able, Setting, Settings, SteppingEngine
from validation.engines.relations import Relation
from validation.engines.shared.recorder import AnswerError, World, record, state_of
from validation.engines.takes import not_taken
from validation.records.trajectory import Contacts, Impacts, PlanarTrajectory, SpatialTrajectory, Trajectory


def declined(engine: Any, scene: Scene) -> str | None:
    """Why the engine cannot represent the scene, by its allow-list or in its own words; None where it can."""
    _check_takes(engine)
    if not isinstance(engine, SteppingEngine) and (reason := not_taken(engine, scene)):  # that one asks its list itself
        return reason
    answer = engine.declines(scene)
    if answer is None or (isinstance(answer, str) and answer.strip()):
        return answer
    raise AnswerError(f"{engine.name}: declines returned {_found(answer)}; it should be the reason as text, or None")


def _check_takes(engine: Any) -> None:
    """A set of features that there are."""
    takes = getattr(engine, "takes", None)
    if not isinstance(takes, (set, frozenset, NoneType)):
        raise AnswerError(f"{engine.name}: takes is {_found(takes)}; it should be a set of features of scenes")
    for feature in sorted((takes or set()) - known_features(), key=str):
        near = difflib.get_close_matches(str(feature), known_features(), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise AnswerError(f"{engine.name}: takes has {feature!r}, which is no feature of scenes{hint}")


def check_declared(engine: Any) -> None:
    """What an engine has beside its methods. Raises AnswerError."""
    profiles = getattr(engine, "profiles", ("default",))
    settings = getattr(engine, "settings", {})
    relations = getattr(engine, "relations", ())
    round_off = getattr(engine, "round_off", DOUBLE)
    warm_up = getattr(engine, "warm_up", check_declared)
    wrong = [
        (name, value, allowed)
        for name, value, allowed, right in (
            ("name", engine.name, "text", _is_text(engine.name)),
            ("version", engine.version, "text", _is_text(engine.version) or _is_number(engine.version)),
            ("profiles", profiles, "a tuple of names, one at least", _all(profiles, _is_text) and len(profiles) > 0),
            ("settings", settings, "a dict of names and Settings", isinstance(settings, Mapping)),
            ("relations", relations, "a tuple of Relations", _all(relations, lambda one: isinstance(one, Relation))),
            ("round_off", round_off, "a number above 0", _is_number(round_off) and 0.0 < round_off < math.inf),
            ("warm_up", warm_up, "a method", callable(warm_up)),
        )
        if not right
    ] + [
        (f"settings[{name!r}]", one, 'Setting(default=1.0, doc="what it does"), of a number, a text or a truth value')
        for name, one in (settings.items() if isinstance(settings, Mapping) else ())
        if not (_is_text(name) and isinstance(one, Setting) and isinstance(one.default, (bool, int, float, str)))
    ]
    for name, value, allowed in wrong:
        raise AnswerError(f"{engine.name}: {name} is {_found(value)}; it should be {allowed}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _all(values: Any, right: Callable[[Any], bool]) -> bool:
    return isinstance(values, Collection) and not isinstance(values, str) and all(map(right, values))


def abilities_of(engine: Any) -> Mapping[Ability, Able]:
    """Raises AnswerError where they are none."""
    abilities = getattr(engine, "abilities", {})
    if not isinstance(abilities, Mapping):
        raise AnswerError(f"{engine.name}: abilities is {_found(abilities)}; it should be a dict of {ABLE}")
    for name, able in abilities.items():
        if name not in get_args(Ability):
            raise AnswerError(f"{engine.name}: abilities has {name!r}; it should be {', '.join(get_args(Ability))}")
        if not isinstance(able, Able):
            raise AnswerError(f"{engine.name}: abilities[{name!r}] is {_found(able)}; it should be an {ABLE}")
    return abilities


def simulated(engine: Any, scene: Scene, dt: float, settings: Settings) -> Trajectory:
    """The engine's motion, checked. Raises AnswerError; what is not finite is left to the caller, who says where."""
    motion = engine.simulate(scene.model_copy(), dt, settings)  # what an engine does to its scene is not done to ours
    wanted = SpatialTrajectory if scene.dimension == 3 else PlanarTrajectory
    if not isinstance(motion, wanted):
        raise AnswerError(f"{engine.name}: simulate returned {_found(motion)}; it should be a {wanted.__name__}")
    if (fault := _fault(motion, scene)) is not None:
        raise AnswerError(f"{engine.name}: {fault}")
    return motion


def plain(engine: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as an engine's profile has them, which go into records: each a number, a text or a truth value."""
    for name, value in settings.items():
        if not isinstance(name, str) or not isinstance(value, (bool, int, float, str)):
            raise AnswerError(f"{engine.name}: setting {name!r} is {_found(value)}; it should be a number or text")
    return dict(settings)


ABLE = 'Able(works=True, note="how well")'
NUMBERS: tuple[tuple[str, Callable[[float], bool], str], ...] = (
    ("dt", lambda value: value > 0.0, "seconds above 0"),
    ("velocity_lag", lambda value: True, "seconds"),
    ("contact_tolerance", lambda value: value >= 0.0, "metres, 0 or more"),
)
"""Of a trajectory: what fits, beside that it is finite."""


def _found(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} {value.shape}"
    try:
        return f"{value!r:.60} ({type(value).__name__})"
    except Exception:  # its own __repr__ fails
        return f"a {type(value).__name__}"


def _fault(motion: Trajectory, scene: Scene) -> str | None:
    if motion.velocity.shape[1] != len(scene.bodies):
        return f"{motion.velocity.shape[1]} bodies; expected: {len(scene.bodies)}, all of the scene's, in its order"
    for name, fits, wanted in NUMBERS:
        value = getattr(motion, name)
        if not isinstance(value, (int, float)) or not math.isfinite(value) or not fits(value):
            return f"{name} is {_found(value)}; it should be a finite number of {wanted}"
    if not isinstance(motion.state_hash, str):
        return f"state_hash is {_found(motion.state_hash)}; it should be text, or left out"
    if not np.isfinite(motion.time).all():
        return "time is not finite; it should be seconds from 0 to the scene's duration"
    width, members = len(scene.gravity), len(scene.bodies) + len(scene.boundaries)
    for what, kind in (("contacts", Contacts), ("impacts", Impacts)):
        rows = getattr(motion, what)
        if rows is None:
            continue
        if not isinstance(rows, kind):
            return f"{what} is {_found(rows)}; it should be {kind.__name__}, or None"
        if fault := _rows_fault(rows, what, width, members, len(motion.time)):
            return fault
    return None


def _rows_fault(rows: Any, what: str, width: int, members: int, samples: int) -> str | None:
    count = np.shape(rows.a)[:1]
    for name in type(rows).__dataclass_fields__:
        array, whole = getattr(rows, name), name in ("a", "b", "sample", "parting")
        if array is None:
            continue
        shape = (*count, width) if name in ("point", "normal", "impulse") else count
        kind = "i" if whole else "f"
        if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype.kind != kind:
            return (
                f"{what}.{name} is {_found(array)}; it should be an array of {'int64' if whole else 'float64'} {shape}"
            )
        if not whole and name not in ("impulse", "normal", "gap", "approach") and not np.isfinite(array).all():
            return f"{what}.{name} is not finite everywhere; it should be"
    for name in ("a", "b"):
        index = getattr(rows, name)
        if index.size and not (index.min() >= 0 and index.max() < members):
            return (
                f"{what}.{name} goes from {index.min()} to {index.max()}; bodies and boundaries are 0 to {members - 1}"
            )
    order = rows.sample if isinstance(rows, Contacts) else rows.time
    if order.size and (np.diff(order) < 0).any():
        return f"{what} are not in the order of time; they should be"
    if isinstance(rows, Contacts) and order.size and not (order[0] >= 0 and order[-1] < samples):
        return f"contacts.sample goes from {order[0]} to {order[-1]}; it should be within the {samples} samples"
    return None


# --- what an ability of an engine is tried by: motions that a plain simulation does not give ------------------------


def exercised(engine: Any, scene: Scene, dt: float, settings: Settings, exercise: Mapping[str, Any]) -> Trajectory:
    """The motion of an exercise. Raises AnswerError where the engine's options are none.

    {"ability": "set_state", "step": k}     the motion from the state that the engine itself had after k steps, put
                                            into a world built anew; its time 0 is that of step k
    {"ability": "apply_force", "body": i, "force": [...], "point": [...] | null, "steps": n}
                                            the scene's motion, pushed in each of the first n steps
    {"ability": "options"}                  the motion as it is, after the engine's options were found to be data
    """
    world: World = engine.build(scene, dt, settings)
    match exercise["ability"]:
        case "set_state":
            state = state_of(world)
            for _ in range(exercise["step"]):
                world.step(watched=False)
                state = state_of(world)  # each: quaternions keep their sign from one to the next
            other = engine.build(scene, dt, settings)
            other.set_state(*state, time=exercise["step"] * dt)
            return record(other, scene, dt)
        case "apply_force":
            return record(world, scene, dt, before_step=lambda world, step: _apply_force(world, step, exercise))
        case "options":
            _check_options(engine, world, settings)
            return record(world, scene, dt)
    raise ValueError(f"no exercise of {exercise['ability']!r}")


def _apply_force(world: World, step: int, exercise: Mapping[str, Any]) -> None:
    if step <= exercise["steps"]:
        world.apply_force(exercise["body"], exercise["force"], exercise["point"])


def _check_options(engine: Any, world: World, settings: Settings) -> None:
    """Numbers, words and truth values; one that has a setting's name has its value."""
    found = world.options()
    if not isinstance(found, dict) or not found:
        raise AnswerError(f"{engine.name}: options returned {found!r:.60}; it should be a dict of names and values")
    for name, value in found.items():
        if not isinstance(name, str) or not isinstance(value, (bool, int, float, str)):
            raise AnswerError(f"{engine.name}: option {name!r} is {value!r:.60}; it should be a number or text")
        given = settings.get(name, value)
        same = value == given if isinstance(given, str) else np.isclose(float(value), float(given), rtol=1e-6)
        if not same and not (isinstance(given, str) and not isinstance(value, str)):
            raise AnswerError(f"{engine.name}: option {name!r} is {value!r}, and the setting {name!r} was {given!r}")
