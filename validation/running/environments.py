"""Other versions of an engine, each in an environment of its own: `pymunk==6.11.1` beside the one that is installed.

A virtual environment for each (engine, version, Python), made once and kept in the cache folder; the user's own is only
read. pip installs there the engine and what it needs, from wheels alone, with pip's own settings (PIP_INDEX_URL,
PIP_FIND_LINKS, PIP_NO_INDEX, pip.conf). Our adapter is not installed but lent, with the packages that it imports: links
to where they lie, last on the environment's path. So both versions run under the same code and, unless the wheel asks
for another, the same numpy: the engine is all that differs.
"""

import hashlib
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from validation.engines import EngineChoice, distribution_of, installed_version
from validation.running.kernel_cache import alone, cache_root
from validation.running.options import Progress

HOME = Path(__file__).resolve().parents[2]
OUR_PACKAGES = ("reference_engine", "scenarios", "validation")
LENT = (
    "numpy", "scipy", "psutil", "pydantic", "pydantic-core", "annotated-types", "typing-extensions",
    "typing-inspection",
)  # fmt: skip
"""Distributions that adapters and their processes import; those that are not here are not needed here."""
BESIDE = {
    "pybullet==3.2.6": "numpy<2",  # built for numpy 1, which its wheel leaves out
    "sapien==3.0.0": "setuptools<81",  # imports pkg_resources, which later ones have no more
}
"""What wheels need beside what they ask for."""
MADE = "made.json"  # written last: what is installed; without it the environment is half-made and is made anew
NO_SUCH = "Could not find a version"
CONFLICT = "ResolutionImpossible"
SHOWN = 8  # versions that an error lists
START = (
    "import sys; sys.path.append(sys.argv.pop(1)); from validation.running.processes.fork_server import main; main()"
)

Notify = Callable[[str], None]


class BuildError(RuntimeError):
    """No such version, no wheel of it for this Python, or pip could not install it; one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    requirement: str  # pymunk==6.11.1
    python: Path
    packages: Mapping[str, str] = field(default_factory=dict)  # what pip installed: name -> version

    @property
    def command(self) -> list[str]:
        """What starts a fork server in it; the server's own arguments follow."""
        return [str(self.python), "-I", "-B", "-c", START, str(lent_folder())]  # -B: what is lent is not written to


def is_here(choice: EngineChoice) -> bool:
    """Whether this Python has what the word asks for, or no other could."""
    return choice.version is None or distribution_of(choice) is None or choice.version == installed_version(choice)


def environment_of(choice: EngineChoice, notify: Notify = lambda words: None) -> Environment:
    """The environment of an engine and version, made if it is not there; `notify` gets what is being done.

    Raises BuildError. Whatever interrupts it leaves nothing behind; two who want the same make it once.
    """
    name, version = distribution_of(choice), choice.version or ""
    if name is None:
        raise BuildError(f"engine '{choice.word}': no distribution has {choice.name!r}, so there are no versions of it")
    if not re.fullmatch(r"[0-9][0-9A-Za-z.!+_-]*", version):
        raise BuildError(f"engine '{choice.word}': {version!r} is not a version; allowed: such as 6.11.1")
    requirement = f"{name}=={version}"
    folder = cache_root() / "environments" / f"{name}-{version}-{sys.implementation.cache_tag}"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with alone(folder.parent / f"{folder.name}.lock"):
            return _found(folder, requirement) or _made(folder, requirement, notify)
    except OSError as error:
        raise BuildError(
            f"{requirement}: {folder.parent} cannot be written ({error.strerror}); set UPRIGHT_CACHE"
        ) from None


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"


def _found(folder: Path, requirement: str) -> Environment | None:
    try:
        packages = json.loads((folder / MADE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not _python(folder).exists():  # the Python that it was made of is gone
        return None
    return Environment(requirement=requirement, python=_python(folder), packages=packages)


def _made(folder: Path, requirement: str, notify: Notify) -> Environment:
    shutil.rmtree(folder, ignore_errors=True)
    try:
        notify("making a virtual environment")
        has_pip = importlib.util.find_spec("pip") is not None
        venv.create(folder, symlinks=True, with_pip=not has_pip)
        pip = [sys.executable, "-m", "pip", "--python"] if has_pip else [str(_python(folder)), "-m", "pip", "--python"]
        pip += [str(_python(folder)), "--disable-pip-version-check", "--no-input"]
        _install(pip, folder, requirement, notify)
        answer = _run([*pip, "list", "--format", "json"], lambda line: None)
        packages = {row["name"]: row["version"] for row in json.loads(answer.stdout)} if answer.returncode == 0 else {}
        (folder / MADE).write_text(json.dumps(packages), encoding="utf-8")
    except BaseException:  # Ctrl-C too
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return Environment(requirement=requirement, python=_python(folder), packages=packages)


def _install(pip: list[str], folder: Path, requirement: str, notify: Notify) -> None:
    """With the numpy that is here where that goes with the engine, else with the one that pip finds for it."""
    wanted = [requirement, *([BESIDE[requirement]] if requirement in BESIDE else ())]
    install = [*pip, "install", "--only-binary", ":all:", "--progress-bar", "off", "--no-warn-script-location"]
    same = folder / "constraints.txt"
    same.write_text(f"numpy=={importlib.metadata.version('numpy')}\n", encoding="utf-8")
    done = _run([*install, "--constraint", str(same), *wanted], notify)
    if done.returncode != 0 and CONFLICT in done.stderr:
        done = _run([*install, *wanted], notify)
    if done.returncode != 0:
        raise BuildError(_why(pip, requirement, done.stderr))


def _run(command: list[str], notify: Notify) -> subprocess.CompletedProcess[str]:
    """`notify` gets what pip is at, line by line."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if "install" in command else subprocess.DEVNULL,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith(("Collecting", "Downloading", "Installing")):
                notify(line.split(" (")[0].strip().lower())
    text = "".join(lines)
    return subprocess.CompletedProcess(command, process.returncode, text, text)


def _why(pip: list[str], requirement: str, output: str) -> str:
    """pip's words in a line; of a version that is not there, those that are."""
    name, _, version = requirement.partition("==")
    here = f"Python {sys.version_info[0]}.{sys.version_info[1]}"
    found = re.search(rf"{NO_SUCH}.*?{re.escape(requirement)} \(from versions: ([^)]*)\)", output)
    if found is None:
        errors = [line.removeprefix("ERROR: ") for line in output.splitlines() if line.startswith("ERROR")]
        last = (errors or output.splitlines() or ["pip gave no reason"])[-1]
        return f"{requirement} cannot be installed: {' '.join(last.split())}"
    versions = [each.strip() for each in found[1].split(",") if each.strip() not in ("", "none")]
    if not versions:
        return f"{requirement}: pip finds no wheel of {name} for {here}; is its index to be reached (pip config list)?"
    known = _run([*pip, "index", "versions", name], lambda line: None).stdout
    exists = re.search(rf"[ ,]{re.escape(version)}(,|$)", known, re.MULTILINE)
    what = f"there is no wheel of it for {here}" if exists else "there is no such version"
    shown = ", ".join(versions[-SHOWN:])
    return f"{requirement}: {what}; pip has {'... ' if len(versions) > SHOWN else ''}{shown}"


# --- what is lent ---------------------------------------------------------------------------------------------------


def lent_folder() -> Path:
    """A folder of links to our packages and to those that they import, named by where these lie."""
    links = {name: HOME / name for name in OUR_PACKAGES} | _top_levels()
    digest = hashlib.sha256(repr(sorted(links.items())).encode()).hexdigest()[:16]
    folder = cache_root() / "lent" / digest
    folder.mkdir(parents=True, exist_ok=True)
    for name, target in links.items():
        with suppress(FileExistsError):
            (folder / name).symlink_to(target)
    return folder


def _top_levels() -> dict[str, Path]:
    """Every file or folder that the lent distributions, and what describes ours, have beside the others."""
    found: dict[str, Path] = {}
    for name in (*LENT, "upright"):
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        for file in distribution.files or ():
            top = file.parts[0]
            if top not in ("..", "__pycache__") and not top.endswith(".pth") and top not in OUR_PACKAGES:
                found[top] = Path(str(distribution.locate_file(top))).resolve()
    return found


# --- those of a run ----------------------------------------------------------------------------------------------


def environments_of(choices: Iterable[EngineChoice], progress: Progress) -> dict[str, Environment]:
    """By word, of those that this Python has not. Raises BuildError."""
    found: dict[str, Environment] = {}
    for choice in choices:
        if choice.word not in found and not is_here(choice):
            with progress.activity(f"environment of {choice.word}") as notify:
                found[choice.word] = environment_of(choice, notify)
    return found


def commands_of(environments: Mapping[str, Environment]) -> dict[str, list[str]]:
    """What a pool starts for each word."""
    return {word: environment.command for word, environment in environments.items()}


def packages_apart(
    sides: tuple[Environment | None, Environment | None], engines: set[str]
) -> dict[str, tuple[str, str]]:
    """Packages that both sides have in different versions, the engines' own left out; a side without an environment is
    this Python.
    """
    names = dict.fromkeys(name for side in sides if side for name in side.packages)
    apart = {}
    for name in names:
        old, new = (_version(side, name) for side in sides)
        if old and new and old != new and name.casefold() not in engines:
            apart[name] = (old, new)
    return apart


def _version(side: Environment | None, name: str) -> str | None:
    if side is not None and name in side.packages:
        return side.packages[name]
    with suppress(importlib.metadata.PackageNotFoundError):  # lent
        return importlib.metadata.version(name)
    return None
