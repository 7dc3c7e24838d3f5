"""One process of ours, asked in JSON. Nothing of ours is imported here, and nothing that takes long."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parent.parent
SERVER = [sys.executable, "-P", "-m", "validation.cli.serve"]
DATABASE = "upright.db"


class UprightError(RuntimeError):
    """A word that names nothing, an engine that does not start, a scene that it declines; one line."""


def ask(request: Mapping[str, Any], *, folder: Path | None = None) -> dict[str, Any]:
    """The answer of a process that runs in `folder` (the current one). Raises UprightError."""
    done = subprocess.run(
        SERVER, cwd=folder, env=environment(), input=json.dumps(request), stdout=subprocess.PIPE, text=True
    )
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise UprightError(f"the process that runs the scenarios ended with status {done.returncode}") from None
    if "error" in found:
        raise UprightError(found["error"])
    return found


def environment() -> dict[str, str]:
    """In which `validation` is ours: the user's folders come last on the path, whatever PYTHONPATH says."""
    given = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHONPATH", "PYTHONHOME"))}
    if HOME.name not in ("site-packages", "dist-packages"):  # run from its sources
        given["PYTHONPATH"] = str(HOME)
    installed = [Path(prefix, "lib").resolve() for prefix in (sys.base_prefix, sys.prefix)]
    entries = [Path(entry).resolve() for entry in sys.path]
    theirs = [str(entry) for entry in entries if entry != HOME and not any(lib in entry.parents for lib in installed)]
    before = os.environ.get("UPRIGHT_ENGINE_PATH")
    return given | {"UPRIGHT_ENGINE_PATH": os.pathsep.join([*theirs, *([before] if before else [])])}
