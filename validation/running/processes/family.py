"""A process and all that it has started: how much memory that is, and how it is ended."""

import contextlib
import os
import shutil
import signal
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PAGE = os.sysconf("SC_PAGE_SIZE")  # bytes
MARK = "UPRIGHT_SERVER"  # environment variable that tells what a server has started from all else
END_LIMIT = 2.0  # s for what is killed to be gone
KERNEL_LISTS_CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children").exists()  # Linux, most builds of it


def kill(pid: int) -> None:
    """The process, all in its process group, and what it started in groups of their own if the kernel lists that.

    The group first, which no fork of one of its processes escapes."""
    started = family(pid)[1:] if KERNEL_LISTS_CHILDREN else []
    group = group_of(pid)
    groups = [(os.killpg, group)] if group not in (pid, os.getpgrp()) else []
    for target, number in (*groups, (os.killpg, pid), (os.kill, pid), *((os.kill, one) for one in started)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            target(number, signal.SIGKILL)


def end_children(ours: Callable[[int], bool], limit: float = END_LIMIT) -> bool:
    """Kill the children of this process that `ours` names by their ids; whether there are none after so long (s).

    Killing one makes orphans of what that has started, which may come to this process, so this goes on until there is
    none, twice running: while children end, the kernel's list of them may miss one (proc_pid_task(5))."""
    deadline = time.perf_counter() + limit
    sought = 1
    while sought:
        found = [pid for pid in children_of(os.getpid()) if ours(pid)]
        sought = 2 if found else sought - 1
        for pid in found:
            kill(pid)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        if found and time.perf_counter() > deadline:
            return False
        if sought:
            time.sleep(0.0005)
    return True


def group_of(pid: int) -> int:
    """The process group, also of one that has ended and not been waited for; our own where there is no such process."""
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return os.getpgrp()


def environment_has(pid: int, name: str, value: str) -> bool:
    """Whether the process was started with this variable, or by one that was; False once it has ended."""
    try:
        return f"{name}={value}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def has_ended(pid: int) -> bool:
    """And was not waited for; or is about to end: it has given back its memory, and its environment with that."""
    try:
        state, *numbers = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2].split()
    except OSError:
        return False
    return state == b"Z" or numbers[19] == b"0"  # bytes of virtual memory (proc_pid_stat(5), field 23)


def resident(pid: int) -> tuple[int, int]:
    """Bytes of the process with those of what it started, and how many these are, ended ones too; 0 once it is gone."""
    if KERNEL_LISTS_CHILDREN:  # a fiftieth of psutil's time, which reads the whole process table
        found = family(pid)
        return sum(pages(one) for one in found) * PAGE, len(found)
    import psutil  # which other kernels need only

    try:
        process = psutil.Process(pid)
        started = (process, *process.children(recursive=True))
        return sum(one.memory_info().rss for one in started), len(started)
    except psutil.Error:
        return 0, 0


def resident_once(pid: int) -> int:
    """Bytes likewise, but what several of them share counts once, as a fork shares all at first (Pss, proc(5)); where
    the kernel does not list that, as `resident`."""
    if not KERNEL_LISTS_CHILDREN:
        return resident(pid)[0]
    return sum(proportional(one) for one in family(pid))


def removed(folder: str) -> None:
    """The folder with all in it, whatever it may be allowed."""
    try:
        Path(folder).rmdir()  # as most are: empty
    except FileNotFoundError:
        return
    except OSError:
        _with_all_in_it(folder)


def _with_all_in_it(folder: str) -> None:
    def once_more(function: Any, path: str, _: Any) -> None:
        with contextlib.suppress(OSError):
            Path(path).parent.chmod(stat.S_IRWXU)
            Path(path).chmod(stat.S_IRWXU)
            function(path)

    shutil.rmtree(folder, onerror=once_more)


def written(folder: str) -> int:
    """Bytes of all files in it."""
    total = 0
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found = entry.stat(follow_symlinks=False)
            total += written(entry.path) if entry.is_dir(follow_symlinks=False) else found.st_blocks * 512
    return total


def family(pid: int) -> list[int]:
    """The process and all that it and they started."""
    found = [pid]
    for one in found:  # which grows
        found += children_of(one)
    return found


def children_of(pid: int) -> list[int]:
    """Those whose parent it is, ended ones too (proc_pid_task(5)); none where the kernel does not list them."""
    found: list[int] = []
    with contextlib.suppress(OSError):  # gone meanwhile
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_bytes().split())
    return found


def proportional(pid: int) -> int:
    """Bytes resident, each page divided by how many processes have it; 0 once it is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_bytes().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(b"Pss:"))
    except ProcessLookupError:
        return 0
    except (OSError, StopIteration):
        return pages(pid) * PAGE


def pages(pid: int) -> int:
    """Resident; 0 once it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1])
    except (OSError, IndexError):
        return 0
