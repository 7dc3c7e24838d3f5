"""What is on the screen as something to go on with: a scene file, a command, a few lines of Python."""

import shlex

from scenarios.scenario import Scenario
from scenarios.scene import write_scene
from validation.tools.playground.setup import STEP, Setup

FILE = "playground.json"


def taken(setup: Setup, scenario: Scenario) -> dict[str, str]:
    """The three of them; a scenario that was not changed needs no file."""
    word = FILE if scenario.from_file else scenario.label
    step = [] if setup.dt == STEP else ["--dt", repr(setup.dt)]
    engines = [part for engine in setup.engines for part in ("--engine", engine)]
    command = shlex.join(["upright", "run", word, *engines, *step])
    dt = "" if setup.dt == STEP else f", dt={setup.dt!r}"
    python = "\n".join(
        (
            "import upright",
            "",
            f"results = upright.run({word!r}, engines={list(setup.engines)!r}{dt})",
            "print(results)",
        )
    )
    return {"file": FILE, "scene": write_scene(scenario.scene), "command": command, "python": python}
