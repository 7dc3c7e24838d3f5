"""A find as a script in the engine's own API."""

import importlib
import textwrap
from typing import Any

from scenarios.scene import PlanarScene, Scene
from validation.engines.shared.recorder import step_count
from validation.records.trajectory import PlanarTrajectory, Trajectory
from validation.tools.fuzzing.oracles import Violation, energy_allowed
from validation.tools.fuzzing.scripts.faults import LIMIT, Find, closing_of
from validation.tools.fuzzing.scripts.parts import (
    EngineCode,
    ScriptError,
    Settings,
    icosphere_source,
    one_line,
    refuse_what_no_script_has,
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
) -> str:
    """Python that needs the engine's package and numpy alone; its exit status is 1 where the law is broken, else 0.

    Raises what `engine_code` does, and ScriptError for a fault that a script does not show.
    """
    part = engine_code(engine, version, scene, dt, settings, motion)
    tolerance = 0.0 if motion is None else motion.contact_tolerance
    allowed = 0.0 if motion is None else energy_allowed(scene, motion)
    find = Find(
        scene=scene, dt=dt, violation=violation, engine=part, contact_tolerance=tolerance, energy_allowed=allowed
    )
    return written(find, version)


def written(find: Find, version: str) -> str:
    """As `script_of`, of an engine's part that is there."""
    part, scene, dt, violation = find.engine, find.scene, find.dt, find.violation
    closing, hangs = closing_of(find), violation.oracle == "broken"
    cut = "icosphere(" in part.build
    imports = [f"import {name}" for name, wanted in (("faulthandler", hangs), ("math", cut), ("sys", True)) if wanted]
    steps = step_count(scene, dt)
    turns = "angles" if isinstance(scene, PlanarScene) else "quaternions w-x-y-z"
    reads = f'def state():\n    """Positions, {turns}, velocities and spins of all bodies."""\n'
    blocks = [
        f'"""{part.title} {one_line(version)}: {one_line(violation.message)}\n\nExit status 1 if so, else 0.\n"""',
        "\n".join(imports),
        "\n".join(part.imports),
        *(["\n" + icosphere_source()] if cut else []),
        part.build.strip("\n") + "\n",
        reads + textwrap.indent(part.state.strip("\n"), "    ") + "\n",
        *(function.strip("\n") + "\n" for function in closing.functions),
        f"# {steps} steps of {dt:.6g} s",
    ]
    loop = [
        *([f"faulthandler.dump_traceback_later({LIMIT}, exit=True)  # where a step does not end"] if hangs else []),
        "states = [state()]",
        f"for _ in range({steps}):",
        f"    {part.step}",
        "    states.append(state())",
        "",
        closing.text.strip("\n"),
    ]
    return "\n\n".join(blocks) + "\n" + "\n".join(loop) + "\n"
