"""A find of two ways to simulate one scene (`validation.tools.fuzzing.pairs`) as a script of both."""

import textwrap
from dataclasses import dataclass

from scenarios import mass
from scenarios.scene import PlanarScene, Scene
from validation.engines.relations import Relation
from validation.engines.shared.recorder import step_count
from validation.records.trajectory import Trajectory
from validation.tools.fuzzing.comparison import Compared, oracle_of
from validation.tools.fuzzing.scripts.forces import force_source
from validation.tools.fuzzing.scripts.parts import (
    EngineCode,
    ScriptError,
    Settings,
    icosphere_source,
    numbers,
    one_line,
)
from validation.tools.fuzzing.scripts.script import engine_code, reading_source

CHANGES = (None, "run again", "run after another scene")
TURNED_IN_PLANE = ("turned, spun = np.abs(p - q), np.abs(spin - other)",)
TURNED_IN_SPACE = (
    "turned = 2.0 * np.minimum(np.linalg.norm(p - q, axis=1), np.linalg.norm(p + q, axis=1))",
    "spun = np.linalg.norm(spin - other, axis=1)",
)
ENDS = {"pybullet": "pb.disconnect()"}  # its functions mean the first world that is there


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoWays:
    """Of one scene."""

    relation: Relation
    compared: Compared
    settings: tuple[Settings, Settings]  # as resolved
    before: Scene | None = None  # simulated ahead of the second, in the same process


def refuse_change(relation: Relation) -> None:
    """Raises ScriptError where the two are not of one scene."""
    if relation.change not in CHANGES:
        raise ScriptError(f"a script does not show {oracle_of(relation)!r}: it has one scene, as it is")


def script_of_two(engine: str, version: str, scene: Scene, dt: float, ways: TwoWays, motion: Trajectory | None) -> str:
    """Exit status 1 where they differ by more than is allowed, else 0. Raises what `engine_code` does, and ScriptError
    where there is nothing that differs in numbers."""
    refuse_change(ways.relation)
    found = ways.compared
    if found.violation is None or found.after is None:
        raise ScriptError(f"a script does not show that {one_line(found.violation.message if found.violation else '')}")
    one, other = (engine_code(engine, version, scene, dt, settings, motion) for settings in ways.settings)
    parts = {"one_way": (scene, one), "other_way": (scene, other)}
    if ways.before is not None:
        ahead = engine_code(engine, version, ways.before, dt, ways.settings[1], None)
        parts = {"one_way": parts["one_way"], "ahead": (ways.before, ahead), "other_way": parts["other_way"]}
    sources = {name: _function(name, engine, of, dt, part) for name, (of, part) in parts.items()}
    whole = "".join(sources.values())
    imports = [
        f"import {name}" for name in ("math", "sys") if name == "sys" or "math." in whole or "icosphere" in whole
    ]
    blocks = [
        f'"""{one.title} {one_line(version)}: {one_line(found.violation.message)}\n\nExit status 1 if so, else 0.\n"""',
        "\n".join(imports),
        "\n".join(one.imports),
        *(["\n" + icosphere_source()] if "icosphere(" in whole else []),
        *sources.values(),
        _closing([name for name in parts if name != "one_way"], found, scene, dt),
    ]
    return "\n\n".join(blocks)


def _function(name: str, engine: str, scene: Scene, dt: float, part: EngineCode) -> str:
    forces, steps = force_source(scene, part), step_count(scene, dt)
    body = [
        part.build.strip("\n") + "\n",
        reading_source(scene, part),
        *([forces] if forces else []),
        f"states = [state()]  # {steps} steps of {dt:.6g} s",
        f"for _ in range({steps}):",
        *(["    apply_forces()"] if forces else []),
        f"    {part.step}",
        "    states.append([np.array(part) for part in state()])",
        *([ENDS[engine]] if engine in ENDS else []),
        "return states",
    ]
    return f"def {name}():\n" + textwrap.indent("\n".join(body), "    ") + "\n"


def _closing(others: list[str], found: Compared, scene: Scene, dt: float) -> str:
    calls = [f"{'second' if name == 'other_way' else 'ignored'} = {name}()" for name in others]
    start = ["first = one_way()", *calls]
    if not found.allowed:
        lines = [
            *start,
            "differ = [k for k, (p, q) in enumerate(zip(first, second)) if any((a != b).any() for a, b in zip(p, q))]",
            "if not differ:",
            '    print("both give the same bits")',
            "    sys.exit(0)",
            "most = max(np.abs(a - b).max() for p, q in zip(first, second) for a, b in zip(p, q))",
            'print(f"the two differ from step {differ[0]} on, by up to {most:.3g} in m, rad, m/s or rad/s")',
            "sys.exit(1)",
        ]
        return "\n".join(lines) + "\n"
    lines = [
        *start,
        f"k, dt = {found.after}, {dt!r}  # s",
        "(x, p, v, spin), (y, q, w, other) = first[k], second[k]",
        f"radius = np.array({numbers([mass.bounding_radius(body.shape) for body in scene.bodies])})",
        *(TURNED_IN_PLANE if isinstance(scene, PlanarScene) else TURNED_IN_SPACE),
        "apart = np.maximum(np.linalg.norm(v - w, axis=1) + radius * spun,",
        "                   (np.linalg.norm(x - y, axis=1) + radius * turned) / dt).max()",
        'print(f"after {k} steps the two move a point of a body {apart:.3g} m/s apart; "',
        f'      "allowed: {found.allowed:.3g} m/s")',
        f"sys.exit(int(apart > {found.allowed!r}))",
    ]
    return "\n".join(lines) + "\n"
