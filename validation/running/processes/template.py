"""One process that imports what all servers of ours need, once, and forks them: a start costs a tenth.

    python -P -m validation.running.processes.template PADDING DESCRIPTOR PARENT

Over the socket DESCRIPTOR come {"module", "arguments", "mark", "environment"}, each with a connection for the server to
be and the folder that it starts in; its process id goes back. A server is forked twice, so that it becomes a child of
PARENT, which adopts orphans: Linux only. It is what it would be had PARENT started it: its parent, its signals, its
descriptors, its folder and environment, its command line and mark as others read them. The template itself runs no
engine, starts no thread, and ends with PARENT.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from validation.engines.shared.lifeline import die_with_parent
from validation.running.processes.family import MARK

LONGEST = 1 << 17  # bytes of a request; a half of it for what has changed in the environment
PADDING = 1000  # bytes for the command lines of servers, which are longer than the template's
SINGLE_THREADED = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
AVAILABLE = sys.platform == "linux"
# Beginnings of the names of what Python, the C library and all that is imported here read when they start.
READ_AT_START = (
    *("PYTHON", "LD_", "GLIBC_", "MALLOC_", "LANG", "LC_", "TZ", "HOME", "XDG_", "TMPDIR"),
    *("OMP_", "OPENBLAS_", "MKL_", "NUMBA_", "NPY_", "SCIPY_", "UPRIGHT_CACHE", "UPRIGHT_DEBUG"),
)
MODULES = tuple(f"validation.running.processes.{name}" for name in ("fork_server", "measure_server"))


class Template:
    """The parent's side."""

    def __init__(self) -> None:
        self._environment = dict(os.environ)
        self._read_at_start = _read_at_start()
        self._pids: list[int] = []
        self._asked = 0
        self._died = False
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        program = [sys.executable, "-P", "-m", __name__, "-" * PADDING, str(theirs.fileno()), str(os.getpid())]
        with theirs:
            self._process = subprocess.Popen(
                program,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=None if os.environ.get("UPRIGHT_DEBUG") else subprocess.DEVNULL,
                env=os.environ | SINGLE_THREADED | {MARK: os.urandom(16).hex()},
            )

    @property
    def fits(self) -> bool:
        """It lives, and what it forks is as if it were started here and now."""
        alive = not self._died and self._process.poll() is None
        return alive and self._read_at_start == _read_at_start() and len(json.dumps(self._changed())) < LONGEST // 2

    def _changed(self) -> dict[str, str | None]:
        """In the environment since this process was started; None: is not there any more."""
        return {name: os.environ.get(name) for name, _ in os.environ.items() ^ self._environment.items()}

    def fork(self, module: str, arguments: list[str], mark: str, connection: socket.socket) -> Forked:
        """`module` runs in a new process with these arguments, the descriptor of `connection` and our process id."""
        asked = {"module": module, "arguments": arguments, "mark": mark, "environment": self._changed()}
        folder = os.open(".", os.O_PATH)  # which may have been removed
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it has died, which is found out later
            socket.send_fds(self._control, [json.dumps(asked).encode()], [connection.fileno(), folder])
        os.close(folder)
        self._asked += 1
        return Forked(self, self._asked - 1)

    def pid(self, index: int) -> int | None:
        """Of the server that was asked for after so many others; None where the template has died before."""
        while len(self._pids) <= index:
            with contextlib.suppress(ConnectionResetError):
                if found := self._control.recv(32):
                    self._pids.append(int(found))
                    continue
            self._died = True  # its descriptors are closed before its end can be waited for
            return None
        return self._pids[index]

    def close(self) -> None:
        if self._asked:
            self.pid(self._asked - 1)
        self._control.close()  # it leaves then; what it has forked stays
        self._process.kill()
        self._process.wait()


class Forked:
    """A child of ours that a template has forked: as much of `subprocess.Popen` as is needed."""

    def __init__(self, template: Template, index: int) -> None:
        self._template, self._index = template, index
        self._pid: int | None = None
        self.returncode: int | None = None

    @property
    def pid(self) -> int:
        """0 where there is no process, for the template has died."""
        if self._pid is None:
            self._pid = self._template.pid(self._index) or 0
        return self._pid

    def poll(self) -> int | None:
        if self.returncode is None:
            try:
                ended, status = os.waitpid(self.pid, os.WNOHANG) if self.pid else (1, signal.SIGKILL)
                self.returncode = os.waitstatus_to_exitcode(status) if ended else None
            except ChildProcessError:  # waited for by somebody else
                self.returncode = 0
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Raises subprocess.TimeoutExpired."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired("a server", timeout or 0.0)
            time.sleep(0.001)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


_waiting: list[Template] = []


def begin() -> None:
    """It imports while this process does; the next pool has it."""
    if AVAILABLE:
        _waiting.append(begun())


def begun() -> Template:
    """One that fits: the one that waits, or else a new one."""
    while _waiting:
        if (found := _waiting.pop()).fits:
            return found
        found.close()
    return Template()


def _read_at_start() -> tuple[dict[str, str], tuple[int, int] | None]:
    """What a server could not be given after its imports; the folder too, where paths of modules count from it."""
    read = {name: value for name, value in os.environ.items() if name.startswith(READ_AT_START)}
    paths = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    if all(map(os.path.isabs, paths)):
        return read, None
    here = Path().stat()
    return read, (here.st_dev, here.st_ino)


# --- in the template ---


def main() -> None:
    descriptor, parent = int(sys.argv[2]), int(sys.argv[3])
    die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle, also where it is a server's
    control = socket.socket(fileno=descriptor)
    gc.disable()  # what is imported stays
    importlib.import_module(MODULES[0])
    gc.enable()
    gc.collect()
    gc.freeze()  # servers share these pages
    while True:
        request, descriptors, _, _ = socket.recv_fds(control, LONGEST, 2)
        if not request:
            return
        readable, writable = os.pipe()
        known, make_known = os.pipe()
        between = os.fork()
        if between == 0:
            os.setpgid(0, 0)  # PARENT waits for orphans of other groups than its own: also for what it never heard of
            between = os.getpid()
            if pid := os.fork():
                os.write(writable, str(pid).encode())
                os._exit(0)
            for one in (readable, writable, make_known):
                os.close(one)
            control.close()
            if not os.read(known, 1):  # the template has died before PARENT knew of this process
                os._exit(1)
            os.close(known)
            connection, folder = descriptors
            _become(json.loads(request), connection, folder, between, parent)
            return
        os.waitpid(between, 0)  # what it has started is the parent's child now
        control.send(os.read(readable, 32))
        os.write(make_known, b".")
        for one in (readable, writable, known, make_known, *descriptors):
            os.close(one)


def _become(request: dict[str, Any], descriptor: int, folder: int, between: int, parent: int) -> None:
    """This process is the server that was asked for."""
    os.setpgid(0, os.getpgid(parent))
    os.fchdir(folder)
    os.close(folder)
    while os.getppid() == between:
        time.sleep(0.0002)
    if os.getppid() != parent:  # it has ended
        os._exit(1)
    os.sched_setaffinity(0, os.sched_getaffinity(parent))
    arguments = [*request["arguments"], str(descriptor), str(parent)]
    _shown([sys.executable, "-P", "-m", request["module"], *arguments], os.environ[MARK], request["mark"])
    for name, value in request["environment"].items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    os.environ.update(SINGLE_THREADED | {MARK: request["mark"]})
    module = importlib.import_module(request["module"])
    sys.argv[:] = [str(module.__file__), *arguments]
    module.main()


def _shown(command: list[str], before: str, mark: str) -> None:
    """This is what others read of this process and of its forks: proc(5) has both from the process's own memory."""
    fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
    first, behind, first_of_environment, behind_environment = map(int, fields[45:49])
    text = b"\0".join(word.encode(errors="surrogateescape") for word in command) + b"\0"
    ctypes.memmove(first, text[-(behind - first) :].rjust(behind - first, b"\0"), behind - first)
    size = behind_environment - first_of_environment
    environment = ctypes.string_at(first_of_environment, size)
    at = environment.index(f"{MARK}={before}\0".encode())
    entry = f"{MARK}={mark}".encode()
    ctypes.memmove(first_of_environment + at, entry, len(entry))


if __name__ == "__main__":
    main()
