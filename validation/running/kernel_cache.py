"""Where compiled kernels are kept: a folder under the digest of all that decides their machine code.

numba notices an edit only in a kernel's own file; a callee edited elsewhere leaves stale code behind. So the folder
carries a digest of our sources, of numba's and Python's versions, and of what compiles and whether it checks bounds
(docs/compiler.md). It must be set before numba is imported, and is warmed by one process before several use it (numba
issue 4807: many processes on a cold cache).
"""

import atexit
import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from reference_engine.compiler import chosen_compiler

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]  # a module or none

SOURCES = ("reference_engine", "validation/metrics")
WARM = "warm"
UNUSED_AFTER = 30 * 86400.0  # s


class CacheError(RuntimeError):
    """The kernels could not be compiled or kept."""


def cache_root() -> Path:
    """$UPRIGHT_CACHE, else the user's cache folder."""
    if given := os.environ.get("UPRIGHT_CACHE"):
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "upright"


def kernel_folder() -> Path:
    """Of these sources where they lie, this numba, this Python and how they compile. Raises CacheError."""
    try:
        compiled = chosen_compiler(), os.environ.get("NUMBA_BOUNDSCHECK")
    except ValueError as error:
        raise CacheError(str(error)) from None
    digest = hashlib.sha256(f"{sys.version}{importlib.metadata.version('numba')}{compiled}".encode())
    home = Path(__file__).resolve().parents[2]
    for source in SOURCES:
        for file in sorted((home / source).rglob("*.py")):
            # numba trusts no file but the one that it compiled: not a copy elsewhere, nor one written anew.
            digest.update(f"{file} {file.stat().st_mtime_ns}".encode() + file.read_bytes())
    return cache_root() / "kernels" / digest.hexdigest()[:16]


def use_kernel_cache() -> Path:
    """Point numba of this process and its children to the folder; to a temporary one if that cannot be written."""
    folder = kernel_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(folder)
    except OSError:
        folder = temporary_folder()
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    return folder


@cache
def temporary_folder() -> Path:
    """One for this process, which takes it along when it ends."""
    folder = Path(tempfile.mkdtemp(prefix="upright-kernels-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def is_filled(folder: Path) -> bool:
    """Whether the next command finds there what is compiled now."""
    return folder.parent == cache_root() / "kernels"


def is_warm(folder: Path) -> bool:
    """Whether nothing is left to compile; if so, this is noted as its last use."""
    if os.environ.get("NUMBA_DISABLE_JIT"):
        return True
    if not (folder / WARM).exists():
        return False
    with suppress(OSError):
        (folder / WARM).touch()
    return True


def warm(folder: Path) -> None:
    """Compile everything that the canonical suite needs, once; other commands wait. Raises CacheError."""
    command = [sys.executable, "-P", "-m", "validation.running.warm_up"]
    with alone(folder / "lock"):
        if is_warm(folder):
            return
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines()
            raise CacheError(f"kernels could not be compiled: {lines[-1] if lines else done.returncode}")
        (folder / WARM).touch()
        remove_unused(folder)


def remove_unused(folder: Path) -> None:
    """Delete the folders beside this one that nobody has used for a month."""
    for other in folder.parent.iterdir():
        with suppress(OSError):
            if other != folder and time.time() - (other / WARM).stat().st_mtime > UNUSED_AFTER:
                shutil.rmtree(other)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """One process at a time; the lock goes with the process that holds it."""
    with path.open("w") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
