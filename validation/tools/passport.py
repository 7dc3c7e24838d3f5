"""What an engine's bits depend on: scenes that are simulated again in another way, and compared to the last bit.

The ways are facts about an engine and are not judged: no law says that the order of bodies may change no bit. Each
simulation has a process of its own, which a server forks; a way with another environment has another server.
"""

from __future__ import annotations

import platform
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from scenarios.catalogue.shared.scene_file import scenario_from_scene
from scenarios.scenario import Scenario
from scenarios.scene import content_hash
from validation.engines import EngineChoice
from validation.engines.relations import Change
from validation.judging.evidence.replay import distance, taken
from validation.records.case import platform_class
from validation.records.passport import Compared, Examined, Motion, Passport, Row
from validation.records.simulation import Simulation
from validation.records.trajectory import Trajectory
from validation.running.models import GivenModel, Loading, step_of
from validation.running.options import Progress, RunError
from validation.running.planning import Request, hello_of, profile_of
from validation.running.processes.executor import Executor
from validation.running.processes.pool import Pool, own
from validation.running.processes.processor import processor
from validation.running.runner import Limits, simulate_unplanned
from validation.running.session import running_engines
from validation.tools.fuzzing.twins import changed_back, sampled_steps, twin_of
from validation.version import __version__

MOST_BYTES = 10_000_000  # of a file that is read
SCENES = (
    "stack:n=5",
    "stack:n=5,space=spatial",
    "slide-to-roll",
    "slide-to-roll:space=spatial",
    "double-pendulum",
    "hammer-swing:space=spatial",
    "break",
)
"""What every engine takes some of: contacts at rest, friction, joints and many impacts, in the plane and in space."""
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "4")
OLDER = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F", "OPENBLAS_CORETYPE": "Prescott"}
"""The C library and OpenBLAS choose their code by these; an engine's own code may look at the processor itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Another way to simulate a scene."""

    name: str
    environment: Mapping[str, str] = field(default_factory=dict)  # of a server of its own; empty: the same server
    change: Change = "run again"
    of_models: bool = False  # whether it can be tried on a user's own model, which is not changed


WAYS = (
    Way(name="the same again", of_models=True),
    Way(name="after another scene", change="run after another scene"),
    Way(name="in another process", environment={"PYTHONHASHSEED": "7"}, of_models=True),
    Way(name="with four threads", environment=THREADS, of_models=True),
    Way(name="without AVX2 and FMA", environment=OLDER, of_models=True),
    Way(name="bodies in reverse order", change="reordered"),
    Way(name="from its own state halfway", change="split in two"),
)


def read_passport(path: Path) -> Passport:
    """Raises RunError."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a device has no end
            raise RunError(f"{path}: not a file; give a file that --write has written")
        if path.stat().st_size > MOST_BYTES:
            raise RunError(f"{path}: {path.stat().st_size} bytes; allowed: {MOST_BYTES}, more than any passport has")
        return Passport.model_validate_json(path.read_bytes())
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror})") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise RunError(f"{path}: {where}: {first['msg']}; give a file that --write has written") from None


def examine(
    choice: EngineChoice, scenarios: Sequence[Scenario | GivenModel], profile: str | None, dt: float | None,
    limits: Limits,
    others: Mapping[str, Passport], progress: Progress,
) -> Examined:  # fmt: skip
    """`profile`: where the engine's word names none. `others`: of other machines, by the names of their files.

    Raises RunError where the engine is not there or completes none of the scenes, and what `running_engines` does.
    """
    with running_engines([choice], progress) as (pool, environments):
        hello = hello_of(pool, choice)
        if "error" in hello:
            raise RunError(f"{choice.word}: {hello['error']}")
        made = environments.get(choice.word)
        program = made.command if made else own("validation.running.processes.fork_server")
        requests, declined = _requests(pool, choice, scenarios, profile, dt, limits)
        with progress.bar(f"passport of {choice.label}", len(requests) * (1 + len(WAYS))) as bar:

            def simulated(
                executor: Executor, way: Way, request: Request, motion: Trajectory | None
            ) -> Simulation | str:
                bar.advance(f"{request.scenario.label}: {way.name}")
                return _simulated(executor, way, request, motion, profile_of(request, hello), limits)

            first = [simulated(pool, WAYS[0], request, None) for request in requests]
            of = _completed(requests, first, declined)
            if not of:
                raise RunError(f"{choice.label}: no scene was completed: {next(iter(declined.values()))}")
            rows = []
            for way in WAYS:
                with _server(pool, way, choice.word, program) as executor:
                    if reason := _is_no_other(way, hello_of(executor, choice), hello):
                        found = [Compared(scene=one.scenario.label, same=None, why=reason) for one, _ in of]
                    else:
                        found = [
                            _compared(way, request, motion, simulated(executor, way, request, motion))
                            for request, motion in of
                        ]
                rows.append(Row(way=way.name, found=tuple(found)))
    passport = _passport(choice.name, hello["version"], profile_of(of[0][0], hello), of)
    rows += [_against(name, other, passport) for name, other in others.items()]
    return Examined(passport=passport, rows=tuple(rows), declined=declined)


def _requests(
    pool: Executor,
    choice: EngineChoice,
    scenarios: Sequence[Scenario | GivenModel],
    profile: str | None,
    dt: float | None,
    limits: Limits,
) -> tuple[list[Request], dict[str, str]]:
    """Of what the engine loads; and why not, of what it does not."""
    loading = Loading(pool, limits)
    loading.load(scenarios, [choice])
    requests, declined = [], {}
    for one in scenarios:
        scenario, fault = loading.on(one, choice)
        if fault:
            declined[scenario.label] = fault
        else:
            asked = choice.profile or profile
            requests.append(Request(scenario=scenario, engine=choice, profile=asked, dt=dt or step_of(scenario)))
    return requests, declined


def _simulated(
    executor: Executor, way: Way, request: Request, motion: Trajectory | None, profile: str, limits: Limits
) -> Simulation | str:
    """Changed back into the scene's own terms; or why it is not tried. `motion`: of the scene; None: that is wanted."""
    scene = request.scenario.scene
    if getattr(scene, "native", None) is not None and not way.of_models:
        return "a model is not changed"
    if motion is None or way.change == "run again":
        return simulate_unplanned(executor, request, profile, limits)
    twin = twin_of(way.change, scene, request.dt, motion)
    if twin is None:
        return "the scene goes by the time, or is too short"
    asked = replace(request, scenario=scenario_from_scene("passport", twin.scene), dt=twin.dt)
    found = simulate_unplanned(executor, asked, profile, limits, before=twin.before)
    if found.trajectory is None:
        return found
    return replace(found, trajectory=changed_back(twin, found.trajectory))


def _completed(
    requests: Sequence[Request], found: Sequence[Simulation | str], declined: dict[str, str]
) -> list[tuple[Request, Trajectory]]:
    """Those with a motion; `declined` gets the others."""
    of = []
    for request, one in zip(requests, found):
        if isinstance(one, str) or one.trajectory is None or one.outcome != "completed":
            declined[request.scenario.label] = one if isinstance(one, str) else one.reason or one.outcome
        else:
            of.append((request, one.trajectory))
    return of


@contextmanager
def _server(pool: Executor, way: Way, word: str, program: Sequence[str]) -> Iterator[Executor]:
    """One whose processes have the environment of this way."""
    if not way.environment:
        yield pool
        return
    pairs = [f"{name}={value}" for name, value in way.environment.items()]
    with Pool({word: ["env", *pairs, *program]}) as other:
        yield other


def _is_no_other(way: Way, hello: Mapping[str, object], usual: Mapping[str, object]) -> str:
    """Why this way would be none, as far as its server can tell."""
    if "error" in hello:
        return str(hello["error"])
    if way.environment is not OLDER:
        return ""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return "of processors of the x86-64 family"
    same = hello.get("processor") == usual.get("processor") != ""
    return "the C library here has no other code" if same else ""


def _compared(way: Way, request: Request, motion: Trajectory, found: Simulation | str) -> Compared:
    label, scene = request.scenario.label, request.scenario.scene
    if isinstance(found, str):
        return Compared(scene=label, same=None, why=found)
    if found.trajectory is None or found.outcome != "completed":
        same = None if found.outcome == "declined" else False
        return Compared(scene=label, same=same, why=found.reason or found.outcome)
    if way.change == "run again" and found.trajectory.state_hash == motion.state_hash:
        return Compared(scene=label, same=True)
    (rows, steps), (others, other_steps) = (sampled_steps(one, request.dt) for one in (motion, found.trajectory))
    _, mine, theirs = np.intersect1d(steps, other_steps, return_indices=True)
    one, other = taken(motion, rows[mine]), taken(found.trajectory, others[theirs])
    differs = np.zeros(len(mine), np.bool_)
    for name in one.STATE:
        differs |= (getattr(one, name) != getattr(other, name)).reshape(len(mine), -1).any(axis=1)
    if not differs.any():
        return Compared(scene=label, same=True)
    apart = float(distance(one, other, scene).max()) * request.dt
    return Compared(scene=label, same=False, first=float(one.time[differs.argmax()]), apart=apart)


def _passport(engine: str, version: str, profile: str, of: Sequence[tuple[Request, Trajectory]]) -> Passport:
    motions = {
        request.scenario.label: Motion(
            scene=content_hash(request.scenario.scene), dt=request.dt, motion=motion.state_hash
        )
        for request, motion in of
    }
    return Passport(
        upright=__version__, engine=engine, version=version, profile=profile, platform=platform_class(),
        processor=processor(), motions=motions,
    )  # fmt: skip


def _against(name: str, other: Passport, here: Passport) -> Row:
    """The same engine on another machine."""
    found = []
    if (other.engine, other.version, other.profile) != (here.engine, here.version, here.profile):
        reason = f"it is of {other.engine} {other.version}, profile {other.profile}"
        return Row(way=f"as in {name}", found=tuple(Compared(scene=one, same=None, why=reason) for one in here.motions))
    for label, mine in here.motions.items():
        theirs = other.motions.get(label)
        if theirs is None:
            found.append(Compared(scene=label, same=None, why="it has no such scene"))
        elif (theirs.scene, theirs.dt) != (mine.scene, mine.dt):
            found.append(Compared(scene=label, same=None, why="its scene or time step is another"))
        else:
            found.append(Compared(scene=label, same=theirs.motion == mine.motion))
    return Row(way=f"as in {name}", found=tuple(found))
