"""A find as a script in the engine's own API."""

import importlib
import textwrap
from typing import Any

from scenarios.scene import PlanarScene, Scene, planar_start, spatial_start
from validation.engines.shared.recorder import step_count
from validation.records.trajectory import PlanarTrajectory, Trajectory
from validation.tools.fuzzing.comparison import Must
from validation.tools.fuzzing.oracles import Violation, energy_allowed, energy_scale
from validation.tools.fuzzing.scripts.closing import Find
from validation.tools.fuzzing.scripts.faults import LIMIT, closing_of
from validation.tools.fuzzing.scripts.forces import force_source, is_timed
from validation.tools.fuzzing.scripts.parts import (
    EngineCode,
    ScriptError,
    Settings,
    free_bodies,
    icosphere_source,
    numbers,
    one_line,
    refuse_what_no_script_has,
    rows,
)

ENGINES = ("mujoco", "pybullet", "rapier", "pymunk", "box2d")
PLANAR = ("pymunk", "box2d")


def refuse(engine: str, scene: Scene) -> None:
    """Raises ScriptError for an engine without scripts, and for what no script expresses."""
    if engine not in ENGINES:
        raise ScriptError(f"there are no scripts for {engine}; there are for {', '.join(ENGINES)}")
    refuse_what_no_script_has(scene)


def engine_code(
    engine: str, version: str, scene: Scene, dt: float, settings: Settings, motion: Trajectory | None
) -> EngineCode:
    """The engine's own calls for a scene, with its settings as resolved; `motion`: what they are known to give, if
    they give any. Raises ScriptError for an engine without scripts, and for what a script cannot express.
    """
    refuse(engine, scene)
    module: Any = importlib.import_module(f"validation.tools.fuzzing.scripts.{engine}")
    if engine in PLANAR:
        assert isinstance(scene, PlanarScene)
        positions = motion.position if isinstance(motion, PlanarTrajectory) else None
        part: EngineCode = module.engine_code(scene, dt, settings, positions)
    else:
        part = module.engine_code(scene, dt, settings, version)
    return part


def script_of(
    engine: str,
    version: str,
    scene: Scene,
    dt: float,
    settings: Settings,
    violation: Violation,
    motion: Trajectory | None,
    must: Must | None = None,
) -> str:
    """Python that needs the engine's package and numpy alone; its exit status is 1 where the law is broken, else 0.

    Raises what `engine_code` does, and ScriptError for a fault that a script does not show.
    """
    part = engine_code(engine, version, scene, dt, settings, motion)
    tolerance = 0.0 if motion is None else motion.contact_tolerance
    find = Find(
        scene=scene,
        dt=dt,
        violation=violation,
        engine=part,
        contact_tolerance=tolerance,
        energy_allowed=allowed_energy(scene, motion),
        must=must,
    )
    return written(find, version)


def allowed_energy(scene: Scene, motion: Trajectory | None) -> float:
    """J that may come from nowhere; of a body that was thrown out of its scene, and has no motion, as much as there is
    at the start."""
    return energy_scale(scene) if motion is None else energy_allowed(scene, motion)


def written(find: Find, version: str) -> str:
    """As `script_of`, of an engine's part that is there."""
    part, scene, dt, violation = find.engine, find.scene, find.dt, find.violation
    closing, hangs = closing_of(find), violation.oracle == "broken"
    cut, forces = "icosphere(" in part.build, force_source(scene, part)
    time = part.time.replace("{dt}", repr(dt)) if is_timed(scene) else ""
    source = "".join((part.build, forces))
    wanted = {"faulthandler": hangs, "math": cut or "math." in source, "sys": True}
    imports = [f"import {name}" for name, there in wanted.items() if there]
    steps = step_count(scene, dt)
    blocks = [
        f'"""{part.title} {one_line(version)}: {one_line(violation.message)}\n\nExit status 1 if so, else 0.\n"""',
        "\n".join(imports),
        "\n".join(part.imports),
        *(["\n" + icosphere_source()] if cut else []),
        part.build.strip("\n") + "\n",
        reading_source(scene, part),
        *([_contacts(part)] if closing.watched else []),
        *([forces] if forces else []),
        *(function.strip("\n") + "\n" for function in closing.functions),
        f"# {steps} steps of {dt:.6g} s",
    ]
    loop = [
        *([f"faulthandler.dump_traceback_later({LIMIT}, exit=True)  # where a step does not end"] if hangs else []),
        "states = [state()]",
        *(["reported = [[]]  # contacts of each step"] if closing.watched else []),
        f"for {'k' if time else '_'} in range({steps}):",
        *([f"    apply_forces({time})"] if forces else []),
        f"    {part.step}",
        "    states.append(state())",
        *(["    reported.append(contacts())"] if closing.watched else []),
        "",
        closing.text.strip("\n"),
    ]
    return "\n\n".join(blocks) + "\n" + "\n".join(loop) + "\n"


def reading_source(scene: Scene, part: EngineCode) -> str:
    """The function `state`, of all bodies: what is fixed stays where it is."""
    planar, free = isinstance(scene, PlanarScene), free_bodies(scene)
    what = f"Positions, {'angles' if planar else 'quaternions w-x-y-z'}, velocities and spins of all"
    body = textwrap.indent(part.state.strip("\n"), "    ") + "\n"
    if len(free) == len(scene.bodies):
        return f'def state():\n    """{what} bodies."""\n{body}'
    if isinstance(scene, PlanarScene):
        pose, twist = planar_start(scene)
        start = [rows(pose[:, :2]), numbers(pose[:, 2]), rows(twist[:, :2]), numbers(twist[:, 2])]
    else:
        start = [rows(one) for one in spatial_start(scene)]
    parts = "".join(f"    np.array({one}),\n" for one in start)
    return f'''def moving():
    """{what} bodies that are not fixed."""
{body}

START = [  # of all
{parts}]


def state():
    """Likewise, of all bodies."""
    whole = [part.copy() for part in START]
    for part, now in zip(whole, moving()):
        part[{free}] = now
    return whole
'''


def _contacts(part: EngineCode) -> str:
    if not part.contacts:
        raise ScriptError(f"a script does not read the contact forces of {part.title}")
    body = textwrap.indent(part.contacts.strip("\n"), "    ")
    watch = f"{part.watch.strip(chr(10))}\n\n\n" if part.watch else ""
    return f'''{watch}def contacts():
    """Contacts of the last step: body or boundary a, b, force on b, unit normal from a to b."""
{body}
'''
