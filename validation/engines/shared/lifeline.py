"""No child outlives its parent: the kernel's parent-death signal where there is one (Linux), else nothing.

The portable half of the promise is the end of the stream: a server that loses its connection kills what it
started and leaves. The signal covers a server that cannot listen (it hangs in an import, or it was killed).
A process that adopts orphans finds what a descendant has detached among its own children (Linux).
"""

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SERVER_FOLDER = "UPRIGHT_SERVER_FOLDER"
"""Environment variable of a server's children: its folder, which goes with it, for what they share."""
PR_SET_PDEATHSIG = 1  # Linux, prctl(2)
PR_SET_CHILD_SUBREAPER = 36
PR_GET_CHILD_SUBREAPER = 37
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def die_with_parent(parent: int) -> None:
    """From now on this process is killed when `parent`, which must be its parent, dies."""
    _set(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the signal was set
        os._exit(1)


def ended_by(code: int) -> str:
    """A process, of its exit code; below 0: a signal."""
    return signal.Signals(-code).name if code < 0 else f"exit status {code}"


def outlive_parent() -> None:
    """Undo `die_with_parent`: this process now sees to its end itself."""
    _set(PR_SET_PDEATHSIG, 0)


def adopt_orphans() -> None:
    """From now on a descendant whose parent ends becomes a child of this process, where it became one of process 1."""
    _set(PR_SET_CHILD_SUBREAPER, 1)


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """As `adopt_orphans`, for a while."""
    before = ctypes.c_int(0)
    if _libc is not None:
        _libc.prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    adopt_orphans()
    try:
        yield
    finally:
        _set(PR_SET_CHILD_SUBREAPER, before.value)


def _set(option: int, number: int) -> None:
    if _libc is not None:
        _libc.prctl(option, number, 0, 0, 0)
