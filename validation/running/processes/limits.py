"""What the process of one simulation may use, with all that it starts: memory, output, files, an answer."""

import contextlib
import os
import resource
import tempfile
from pathlib import Path
from typing import IO

from validation.records.text import one_line
from validation.running.processes.family import resident, resident_once, written
from validation.running.processes.received import MOST_ANSWER

MOST_PRINTED = 16 * 2**20  # bytes on standard output and error
MOST_WRITTEN = 2**29  # bytes of files in the folder for temporary ones, and of any one file
LAST_WORDS = 400  # characters of what it printed last that go into the reason
MOST_PROCESSES = 200  # of one simulation, with those that have ended and are not waited for
MIB = 2**20


def own_folder(mark: str) -> str:
    """For temporary files of the server of this mark; it goes with the server."""
    return str(Path(tempfile.gettempdir(), f"upright-{mark}"))


def use_folder(folder: str) -> str:
    """Temporary files of this process, and of what it starts, go into this folder from now on, which is made."""
    Path(folder).mkdir(mode=0o700, exist_ok=True)
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    return folder


def limit_files() -> None:
    """No file of this process grows beyond the limit; to write more to it is an error."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    most = MOST_WRITTEN if most == resource.RLIM_INFINITY else min(most, MOST_WRITTEN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def used(pid: int, answered: int, allowed: int, folder: str, errors: IO[bytes]) -> tuple[int, tuple[str, str] | None]:
    """Bytes of memory now; and outcome and reason if that, the answer so far, output or files are too many."""
    memory, processes = resident(pid)
    if memory > allowed and processes > 1:
        memory = resident_once(pid)
    memory = max(memory, answered)
    amounts = (
        ("out_of_memory", memory, allowed, "resident"),
        ("crashed", answered, MOST_ANSWER, "of an answer"),
        ("crashed", os.fstat(errors.fileno()).st_size, MOST_PRINTED, "printed"),
        ("crashed", written(folder), MOST_WRITTEN, "written to temporary files"),
    )
    for outcome, amount, most, of in amounts:
        if amount > most:
            return memory, (outcome, f"killed at {amount / MIB:.0f} MiB {of}, the limit is {most / MIB:.0f} MiB")
    if processes > MOST_PROCESSES:
        return memory, ("crashed", f"killed at {processes} processes, the limit is {MOST_PROCESSES}")
    return memory, None


def last_words(errors: IO[bytes]) -> list[str]:
    """The last lines of what it printed."""
    with contextlib.suppress(OSError):
        size = errors.seek(0, os.SEEK_END)
        errors.seek(max(0, size - 20 * LAST_WORDS))
        return [one_line(line) for line in errors.read().decode(errors="replace").splitlines() if line.strip()]
    return []
