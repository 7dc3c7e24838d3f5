"""Other versions of an engine, each in an environment of its own: `pymunk==6.11.1` beside the one that is installed.

A virtual environment for each (engine, version, Python), made once and kept in the cache folder; the user's own is only
read. pip installs there the engine and what it needs, from wheels alone, with pip's own settings
(`validation.running.package_index`). Our adapter is not installed but lent, with the packages that it imports: links
to where they lie, last on the environment's path. So both versions run under the same code and, unless the wheel was
built for another, the same numpy: the engine is all that differs.
"""

import hashlib
import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from packaging.utils import canonicalize_version
from packaging.version import InvalidVersion, Version

from validation.engines import EngineChoice, distribution_of, installed_version, module_of, same_version
from validation.running.kernel_cache import alone, cache_root
from validation.running.options import Progress
from validation.running.package_index import WHEELS, BuildError, Notify, must_have, pip_command, run

HOME = Path(__file__).resolve().parents[2]
OUR_PACKAGES = ("reference_engine", "scenarios", "validation")
LENT = (
    "numpy", "scipy", "psutil", "packaging", "pydantic", "pydantic-core", "annotated-types", "typing-extensions",
    "typing-inspection",
)  # fmt: skip
"""Distributions that adapters and their processes import; those that are not here are not needed here."""
OTHER_NUMPY = r"NumPy 1\.x cannot|numpy\.core\.multiarray failed|compiled against A[BP]I|numpy\.dtype size changed"
NEEDED_BESIDE = {OTHER_NUMPY: "numpy<2", r"No module named 'pkg_resources'": "setuptools<81"}
"""What old wheels need and do not ask for, by what their import writes: they were built for numpy 1, or import what
later releases of setuptools have no more."""
MADE = "made.json"  # written last: what is installed; without it the environment is half-made and is made anew
FORMAT = 2  # of it; 1: engines were not imported, so that an environment may lack what they need beside
CONFLICT = "ResolutionImpossible"
IMPORT_LIMIT = 120.0  # s
START = (
    "import sys; sys.path.append(sys.argv.pop(1)); from validation.running.processes.fork_server import main; main()"
)
IMPORT = "import sys, importlib; sys.path.append(sys.argv[1]); importlib.import_module(sys.argv[2])"


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    requirement: str  # pymunk==6.11.1
    python: Path
    packages: Mapping[str, str] = field(default_factory=dict)  # what pip installed: name -> version

    @property
    def command(self) -> list[str]:
        """What starts a fork server in it; the server's own arguments follow."""
        return _command(self.python)


def _command(python: Path) -> list[str]:
    return [str(python), "-I", "-B", "-c", START, str(lent_folder())]  # -B: what is lent is not written to


def is_here(choice: EngineChoice) -> bool:
    """Whether this Python has what the word asks for, or no other could."""
    if choice.version is None or distribution_of(choice) is None:
        return True
    return same_version(choice.version, installed_version(choice))


def environment_of(choice: EngineChoice, notify: Notify = lambda words: None) -> Environment:
    """The environment of an engine and version, made if it is not there; `notify` gets what is being done.

    Raises BuildError. Whatever interrupts it leaves nothing behind; two who want the same make it once.
    """
    requirement, folder = _wanted(choice)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with alone(folder.parent / f"{folder.name}.lock"):
            return _found(folder, requirement) or _made(folder, requirement, module_of(choice), notify)
    except OSError as error:
        raise BuildError(
            f"{requirement}: {folder.parent} cannot be written ({error.strerror}); set UPRIGHT_CACHE"
        ) from None


def is_made(choice: EngineChoice) -> bool:
    """Raises BuildError."""
    requirement, folder = _wanted(choice)
    return _found(folder, requirement) is not None


def command_of(choice: EngineChoice) -> list[str]:
    """What will start a fork server of it, once its environment is made. Raises BuildError."""
    return _command(_python(_wanted(choice)[1]))


def must_be_possible(choice: EngineChoice) -> None:
    """Raises BuildError where there is no environment of it and none can be made; makes none."""
    if not is_made(choice):
        must_have(*_wanted(choice)[0].split("=="))


def _wanted(choice: EngineChoice) -> tuple[str, Path]:
    """What pip is asked for, and where it goes: one folder for all spellings of a version."""
    name, version = distribution_of(choice), choice.version or ""
    if name is None:
        raise BuildError(f"engine '{choice.word}': no distribution has {choice.name!r}, so there are no versions of it")
    try:
        Version(version)
    except InvalidVersion:
        wrong = f"engine '{choice.word}': {version!r} is not a version; allowed: such as 6.11.1"
        raise BuildError(wrong) from None
    folder = f"{name}-{canonicalize_version(version)}-{sys.implementation.cache_tag}"
    return f"{name}=={version}", cache_root() / "environments" / folder


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"


def _found(folder: Path, requirement: str) -> Environment | None:
    try:
        made = json.loads((folder / MADE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if made.get("format") != FORMAT or not _python(folder).exists():  # the Python that it was made of is gone
        return None
    return Environment(requirement=requirement, python=_python(folder), packages=made["packages"])


def _made(folder: Path, requirement: str, module: str, notify: Notify) -> Environment:
    shutil.rmtree(folder, ignore_errors=True)
    try:
        notify("making a virtual environment")
        venv.create(folder, symlinks=True, with_pip=False)
        pip = [*pip_command(), "--python", str(_python(folder))]
        _install(pip, folder, requirement, notify)
        _install_beside(pip, folder, requirement, module, notify)
        packages = _packages(folder)
        (folder / MADE).write_text(json.dumps({"format": FORMAT, "packages": packages}), encoding="utf-8")
    except BaseException:  # Ctrl-C too
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return Environment(requirement=requirement, python=_python(folder), packages=packages)


def _packages(folder: Path) -> dict[str, str]:
    site = sysconfig.get_path("purelib", "venv", vars={"base": str(folder)})
    return {one.name: one.version for one in importlib.metadata.distributions(path=[site])}


def _install(pip: list[str], folder: Path, requirement: str, notify: Notify) -> None:
    """With the numpy that is here where that goes with the engine, else with the one that pip finds for it."""
    same = folder / "constraints.txt"
    same.write_text(f"numpy=={importlib.metadata.version('numpy')}\n", encoding="utf-8")
    output = _pip_install(pip, requirement, notify, "--constraint", str(same))
    if CONFLICT in output:
        output = _pip_install(pip, requirement, notify)
    if output:
        must_have(*requirement.split("=="))
        raise BuildError(f"{requirement} cannot be installed: {_last_error(output)}")


def _pip_install(pip: list[str], requirement: str, notify: Notify, *options: str) -> str:
    """What it writes where it fails, else ""."""
    install = ["install", *WHEELS, "--progress-bar", "off", "--no-warn-script-location", *options]
    done = run([*pip, *install, requirement], notify)
    return (done.stdout or "pip gave no reason") if done.returncode != 0 else ""


def _last_error(output: str) -> str:
    lines = output.splitlines()
    return " ".join(([line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR")] or lines)[-1].split())


def _install_beside(pip: list[str], folder: Path, requirement: str, module: str, notify: Notify) -> None:
    """What the engine's import lacks, if we know what helps; any other failure is its server's to report."""
    for _ in NEEDED_BESIDE:
        written = _import(folder, module)
        needed = next((needed for pattern, needed in NEEDED_BESIDE.items() if re.search(pattern, written)), None)
        if needed is None:
            return
        notify(f"{requirement} needs {needed}")
        if output := _pip_install(pip, needed, notify):
            raise BuildError(f"{requirement} needs {needed}, which cannot be installed: {_last_error(output)}")


def _import(folder: Path, module: str) -> str:
    """What an import of the engine writes, beside what is lent; an engine may fail, or only warn."""
    command = [str(_python(folder)), "-I", "-B", "-c", IMPORT, str(lent_folder()), module]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=IMPORT_LIMIT)
    except subprocess.TimeoutExpired:
        return ""
    return done.stderr


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
    """By word, of those that this Python has not. Of several none is made before all are known to be possible.

    Raises BuildError.
    """
    wanted = {choice.word: choice for choice in choices if not is_here(choice)}
    for choice in wanted.values() if len(wanted) > 1 else ():  # of one, its installation says so
        must_be_possible(choice)
    found: dict[str, Environment] = {}
    for word, choice in wanted.items():
        with progress.activity(f"environment of {word}") as notify:
            found[word] = environment_of(choice, notify)
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
