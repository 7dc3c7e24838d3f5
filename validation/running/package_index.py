"""pip, and what it finds: the releases of a distribution that have a wheel for this Python.

pip's own settings count (PIP_INDEX_URL, PIP_FIND_LINKS, PIP_NO_INDEX, pip.conf). It has no command that lists wheels
alone, but says which it found where a release is asked for that nobody has made.
"""

import importlib.util
import os
import re
import subprocess
import sys
import venv
from collections.abc import Callable, Sequence
from pathlib import Path

from packaging.version import Version

from validation.running.kernel_cache import cache_root

Notify = Callable[[str], None]
NEVER_MADE = "0.0.0.dev0"
FOUND = re.compile(r"\(from versions: ([^)]*)\)")
UNREACHED = re.compile(r"Could not fetch URL (\S+): (?!404)(.*?)(?: - skipping)?$", re.MULTILINE)
INNERMOST, INNER_ENDS = re.compile(r": |\('"), "')"  # of a reason that has its cause in brackets, and so on
SHOWN = 8  # versions that an error lists
WHEELS = ("--only-binary", ":all:")


class BuildError(RuntimeError):
    """No such version, no wheel of it for this Python, pip could not install it, or its index does not answer; one
    line."""


def pip_command() -> list[str]:
    """This Python's pip; where it has none, that of an environment made for it, once."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", *OPTIONS]
    folder = cache_root() / "environments" / f"pip-{sys.implementation.cache_tag}"
    if not (python := folder / "bin" / "python").exists():
        venv.create(folder, symlinks=True, with_pip=True)
    return [str(python), "-m", "pip", *OPTIONS]


OPTIONS = ("--disable-pip-version-check", "--no-input")


def run(command: Sequence[str | Path], notify: Notify = lambda words: None) -> subprocess.CompletedProcess[str]:
    """All that it writes as its output; `notify` gets what pip is at, line by line."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith(("Collecting", "Downloading", "Installing")):
                notify(line.split(" (")[0].strip().lower())
    return subprocess.CompletedProcess(list(command), process.returncode, "".join(lines))


def _answer(name: str, *options: str) -> tuple[tuple[Version, ...], str]:
    """Versions, the oldest first; and which index does not answer."""
    output = run([*pip_command(), "download", "-vv", "--no-deps", *options, f"{name}=={NEVER_MADE}"]).stdout
    found = FOUND.search(output)
    texts = [text.strip() for text in found[1].split(",")] if found else []
    silent = UNREACHED.search(output)
    why = f"{silent[1]} does not answer ({INNERMOST.split(silent[2])[-1].strip(INNER_ENDS)})" if silent else ""
    return tuple(sorted(Version(text) for text in texts if text not in ("", "none"))), why


def releases(name: str) -> tuple[Version, ...]:
    """Those with a wheel for this Python, the oldest first. Raises BuildError where there is none."""
    versions, why = _answer(name, *WHEELS)
    if not versions:
        raise BuildError(f"{name}: {_no_wheel(name, why)}")
    return versions


def must_have(name: str, version: str) -> None:
    """Raises BuildError, with the versions that there are, where pip finds no wheel of this one."""
    versions, why = _answer(name, *WHEELS)
    requirement = f"{name}=={version}"
    if Version(version) in versions:
        return
    if why or not versions:
        raise BuildError(f"{requirement}: {_no_wheel(name, why)}")
    here = f"Python {sys.version_info[0]}.{sys.version_info[1]}"
    exists = Version(version) in _answer(name)[0]
    what = f"there is no wheel of it for {here}" if exists else "there is no such version"
    shown = ", ".join(map(str, versions[-SHOWN:]))
    raise BuildError(f"{requirement}: {what}; pip has {'... ' if len(versions) > SHOWN else ''}{shown}")


def _no_wheel(name: str, why: str) -> str:
    if why:
        return f"{why}; try again, or see which index pip asks (pip config list)"
    here = f"Python {sys.version_info[0]}.{sys.version_info[1]}"
    return f"pip finds no wheel of {name} for {here}; is its index the right one (pip config list)?"
