"""A find as the text of an issue for the engine's authors: what happens, why it is wrong, how to see it."""

import platform
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

from validation.engines import EngineChoice
from validation.report.finds import EXPECTATIONS
from validation.running.environments import environment_of, is_here, lent_folder
from validation.tools.fuzzing.scripts.export import Exported
from validation.tools.fuzzing.scripts.parts import ScriptError

PATIENCE = 120.0  # s for a script
NAMES = {"mujoco": "MuJoCo", "pybullet": "pybullet", "rapier": "rapier3d", "pymunk": "pymunk", "box2d": "Box2D"}


ELSEWHERE = "import runpy, sys; sys.path.append(sys.argv[1]); runpy.run_path(sys.argv[2], run_name='__main__')"
"""What runs a script where numpy is not installed, but lent."""


def run_script(script: str, choice: EngineChoice) -> tuple[int, str]:
    """Exit status and what is printed, in a fresh process that sees no environment and no folder of ours: of another
    release in that one's Python."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "find.py"
        file.write_text(script, encoding="utf-8")
        command = [sys.executable, "-I", str(file)]
        if not is_here(choice):
            python = environment_of(choice).python
            command = [str(python), "-I", "-B", "-c", ELSEWHERE, str(lent_folder()), str(file)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise ScriptError(f"the script did not end within {PATIENCE:g} s") from None
    errors = "" if done.returncode in (0, 1) and done.stdout.strip() else done.stderr
    lines = [line for line in (done.stdout + errors).splitlines() if not line.startswith("pybullet build time")]
    return done.returncode, "\n".join(lines).strip().replace(folder, ".")


def issue_of(exported: Exported) -> str:
    """Markdown. Raises ScriptError where the script, run here, does not show the fault."""
    status, printed = run_script(exported.script, exported.choice)
    oracle, message = exported.violation.oracle, exported.violation.message
    if status == 0:
        raise ScriptError(f"the script runs, but does not show {oracle!r}: {printed}")
    if "Traceback (most recent call last)" in printed and not (oracle == "broken" and message.startswith("crashed")):
        raise ScriptError(f"the script ends with an error in place of showing {oracle!r}: {printed.splitlines()[-1]}")
    if exported.promise:
        law, expected = f"The documents say: {exported.promise}.", "Both ways move the bodies alike."
    else:
        law, expected = EXPECTATIONS[oracle]
    name = NAMES[exported.choice.name]
    return f"""# {name} {exported.version}: {message}

{law}

**Versions.** {name} {exported.version}, numpy {metadata.version("numpy")}, Python {platform.python_version()}, \
{platform.platform()}

**To reproduce.** The script needs {name} and numpy; its exit status is 1 where the fault is there, else 0.

```python
{exported.script.rstrip()}
```

**It prints here** (exit status {status})

```text
{printed}
```
{f"{chr(10)}**With a finer step.** {exported.finer}{chr(10)}" if exported.finer else ""}
**Expected.** {expected}
"""
