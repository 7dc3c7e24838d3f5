"""Engines that do to their process, and to others, what no engine should, and what a run reports of each."""

from __future__ import annotations

import atexit
import ctypes
import gc
import locale
import mmap
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from honest import ENGINES, FOREVER, Flight, Honest, hostile

import validation.engines.answers
import validation.records.trajectory
import validation.running.processes.child
from validation.records.trajectory import to_bytes
from validation.running.processes.frames import LENGTHS, pack

__all__ = ["ENGINES"]
MIB = 2**20


class Doing(Honest):
    """Does something, then simulates as it should."""

    def simulate(self, scene: Any, dt: float, settings: Any) -> Any:
        found = self.do(scene)
        return super().simulate(scene, dt, settings) if found is None else found

    def do(self, scene: Any) -> Any:
        raise NotImplementedError


def sleeping(seconds: float = FOREVER) -> None:
    while True:
        time.sleep(seconds)


def detached() -> None:
    """A process of its own session that is nobody's child."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            sleeping()
        os._exit(0)


# --- processes -------------------------------------------------------------------------------------------------------


@hostile("leaves a child", "completed")
class Forks(Doing):
    def do(self, scene: Any) -> None:
        if os.fork() == 0:
            sleeping()


@hostile("leaves a daemon in a session of its own", "completed")
class Daemonises(Doing):
    def do(self, scene: Any) -> None:
        detached()


@hostile("leaves a daemon, when it is loaded", "completed")
class DaemonisesAtImport(Honest):
    def __init__(self) -> None:
        detached()


@hostile("leaves a daemon, then hangs", "timed_out", "limit of wall-clock time")
class DaemonisesAndHangs(Doing):
    def do(self, scene: Any) -> None:
        detached()
        sleeping()


@hostile("its child goes on with our code", "completed")
class Doubles(Doing):
    """Both write an answer: the pipe is one."""

    def do(self, scene: Any) -> None:
        if os.fork() == 0:
            time.sleep(0.3)


@hostile("eight children that ignore signals", "completed")
class ManyChildren(Doing):
    def do(self, scene: Any) -> None:
        for _ in range(8):
            if os.fork() == 0:
                for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                    signal.signal(number, signal.SIG_IGN)
                os.setsid()
                sleeping()


@hostile("children that fork on and on, each in a session of its own", reason="processes, the limit is 200")
class ForksOn(Doing):
    def do(self, scene: Any) -> None:
        for _ in range(3):
            if os.fork() == 0:
                for _ in range(1000):  # an end, whatever becomes of it
                    if os.fork():
                        os._exit(0)
                    os.setsid()
                    time.sleep(0.005)
                os._exit(0)
        sleeping()


@hostile("a program that it starts and does not wait for", "completed")
class Starts(Doing):
    def do(self, scene: Any) -> None:
        subprocess.Popen(["sleep", str(FOREVER)], start_new_session=True, close_fds=False)


@hostile("threads that go on", "completed")
class Threads(Doing):
    def do(self, scene: Any) -> None:
        for _ in range(8):
            threading.Thread(target=sleeping).start()


@hostile("kills itself", reason="SIGKILL")
class KillsItself(Doing):
    def do(self, scene: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


@hostile("kills its process group", reason="SIGKILL")
class KillsItsGroup(Doing):
    def do(self, scene: Any) -> None:
        os.killpg(0, signal.SIGKILL)


@hostile("kills its server", reason="ended by SIGKILL")
class KillsItsServer(Doing):
    def do(self, scene: Any) -> None:
        os.kill(os.getppid(), signal.SIGKILL)
        sleeping()


@hostile("leaves a daemon and kills its server", reason="ended by SIGKILL")
class DaemonisesAndKillsItsServer(Doing):
    def do(self, scene: Any) -> None:
        detached()
        os.kill(os.getppid(), signal.SIGKILL)
        sleeping()


@hostile("stops itself", "timed_out", "limit of wall-clock time")
class StopsItself(Doing):
    def do(self, scene: Any) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)


@hostile("an alarm", reason="SIGALRM")
class Alarmed(Doing):
    def do(self, scene: Any) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        sleeping()


@hostile("segmentation fault", reason="SIGSEGV")
class Segfaults(Doing):
    def do(self, scene: Any) -> None:
        ctypes.string_at(0)


@hostile("abort", reason="SIGABRT")
class Aborts(Doing):
    def do(self, scene: Any) -> None:
        os.abort()


@hostile("stack overflow in C", reason="SIGSEGV")
class OverflowsInC(Doing):
    def do(self, scene: Any) -> None:
        callback = ctypes.CFUNCTYPE(None)
        sys.setrecursionlimit(10**9)

        @callback
        def again() -> None:
            again()

        again()


@hostile("endless recursion", reason="RecursionError")
class Recurses(Doing):
    def do(self, scene: Any) -> None:
        self.do(scene)


# --- time and memory -------------------------------------------------------------------------------------------------


@hostile("hangs in simulate", "timed_out", "limit of wall-clock time")
class Hangs(Doing):
    def do(self, scene: Any) -> None:
        sleeping()


@hostile("hangs and ignores all signals", "timed_out", "limit of wall-clock time")
class HangsDeaf(Doing):
    def do(self, scene: Any) -> None:
        for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP, 32, 33}:
            signal.signal(number, signal.SIG_IGN)
        sleeping()


@hostile("a busy loop in Python", "timed_out", "limit of wall-clock time")
class Busy(Doing):
    def do(self, scene: Any) -> None:
        while True:
            pass


@hostile("a call in C that never gives back the interpreter's lock", "timed_out", "limit of wall-clock time")
class BusyInC(Doing):
    def do(self, scene: Any) -> None:
        ctypes.PyDLL(None).sleep(3600)


@hostile("hangs while it is planned", "timed_out", "limit of wall-clock time")
class HangsInDeclines(Honest):
    def declines(self, scene: Any) -> None:
        sleeping()


@hostile("hangs in build", "timed_out", "limit of wall-clock time")
class HangsInBuild(Honest):
    def build(self, scene: Any, dt: float, settings: Any) -> Any:
        sleeping()


class Hanging(Flight):
    at = ""

    def step(self, *, watched: bool) -> None:
        if self.at == "step":
            sleeping()
        super().step(watched=watched)

    def read(self) -> Any:
        if self.at == "read":
            sleeping()
        return super().read()

    def contacts(self) -> Any:
        if self.at == "contacts":
            sleeping()

    def finish(self, motion: Any) -> Any:
        if self.at == "finish":
            sleeping()


class HangsAt(Honest):
    at = ""

    def build(self, scene: Any, dt: float, settings: Any) -> Any:
        world = Hanging(scene, dt)
        world.at = self.at
        return world


@hostile("hangs in step", "timed_out", "limit of wall-clock time")
class HangsInStep(HangsAt):
    at = "step"


@hostile("hangs in read", "timed_out", "limit of wall-clock time")
class HangsInRead(HangsAt):
    at = "read"


@hostile("hangs in contacts", "timed_out", "limit of wall-clock time")
class HangsInContacts(HangsAt):
    at = "contacts"


@hostile("hangs in finish", "timed_out", "limit of wall-clock time")
class HangsInFinish(HangsAt):
    at = "finish"


class HangsWhenFreed:
    def __del__(self) -> None:
        sleeping()


@hostile("hangs in a destructor", "timed_out", "limit of wall-clock time")
class HangsInDestructor(Doing):
    def do(self, scene: Any) -> None:
        HangsWhenFreed()


@hostile("hangs at its exit", "completed")
class HangsAtExit(Doing):
    def do(self, scene: Any) -> None:
        atexit.register(sleeping)


@hostile("one step in a second", "timed_out", "limit of wall-clock time")
class Slow(Honest):
    def build(self, scene: Any, dt: float, settings: Any) -> Any:
        world = Flight(scene, dt)
        step = world.step

        def slow(*, watched: bool) -> None:
            time.sleep(1.0)
            step(watched=watched)

        world.step = slow  # type: ignore[method-assign]
        return world


@hostile("takes memory until the limit", "out_of_memory", "MiB resident")
class Hoards(Doing):
    def do(self, scene: Any) -> None:
        hoard = []
        while True:
            hoard.append(np.ones(2 * MIB))
            time.sleep(0.002)


@hostile("a child of it takes memory", "out_of_memory", "MiB resident")
class ChildHoards(Doing):
    def do(self, scene: Any) -> None:
        if os.fork() == 0:
            os.setsid()
            Hoards().do(scene)
        sleeping()


@hostile("maps memory and writes to it", "out_of_memory", "MiB resident")
class Maps(Doing):
    def do(self, scene: Any) -> None:
        maps = []
        while True:
            one = mmap.mmap(-1, 16 * MIB)
            one.write(b"x" * (16 * MIB))
            maps.append(one)
            time.sleep(0.002)


@hostile("asks for a petabyte", "out_of_memory", "MemoryError")
class AsksTooMuch(Doing):
    def do(self, scene: Any) -> None:
        np.ones(2**47)


# --- files and output ------------------------------------------------------------------------------------------------


@hostile("prints a megabyte on both streams", "completed")
class Prints(Doing):
    def do(self, scene: Any) -> None:
        for stream in (sys.stdout, sys.stderr):
            stream.write("\x1b[2J all is well\n" * 60_000)


@hostile("prints for ever", reason="MiB printed")
class PrintsOn(Doing):
    def do(self, scene: Any) -> None:
        while True:
            os.write(1, b"all is well\n" * 8000)


@hostile("a child of it prints for ever", reason="MiB printed")
class ChildPrintsOn(Doing):
    def do(self, scene: Any) -> None:
        if os.fork() == 0:
            os.setsid()
            while True:
                os.write(2, b"all is well\n" * 8000)
        sleeping()


@hostile("prints binary noise and ends with 7", reason="exit status 7")
class PrintsNoise(Doing):
    def do(self, scene: Any) -> None:
        os.write(2, bytes(range(256)) * 100 + b"\nthe last \x1b[31mline\x00\n")
        os._exit(7)


@hostile("fills files in the temporary folder", reason="MiB written")
class FillsTemporary(Doing):
    def do(self, scene: Any) -> None:
        while True:
            Path(tempfile.mkstemp(prefix="hostile-")[1]).write_bytes(b"x" * (16 * MIB))


@hostile("leaves files in the temporary folder", "completed")
class LeavesTemporary(Doing):
    def do(self, scene: Any) -> None:
        folder = Path(tempfile.mkdtemp(prefix="hostile-"))
        for name in ("one", "two"):
            (folder / name).write_bytes(b"x" * MIB)
        folder.chmod(0)


@hostile("one file without end", reason="File too large")
class FillsOneFile(Doing):
    def do(self, scene: Any) -> None:
        with tempfile.TemporaryFile() as file:
            while True:
                file.write(b"x" * (16 * MIB))


@hostile("closes all descriptors", reason="could not be written")
class ClosesAll(Doing):
    def do(self, scene: Any) -> None:
        os.closerange(0, 4096)


@hostile("closes all descriptors, then hangs", reason="closed the pipe")
class ClosesAllAndHangs(Doing):
    def do(self, scene: Any) -> None:
        os.closerange(0, 4096)
        sleeping()


@hostile("puts a file in place of all descriptors", reason="without an answer")
class Replaces(Doing):
    def do(self, scene: Any) -> None:
        for number in range(3, 64):
            os.dup2(os.open(os.devnull, os.O_RDWR), number)


def pipes() -> list[int]:
    """Descriptors that are pipes."""
    found = []
    for number in range(3, 256):
        try:
            if str(Path(f"/proc/self/fd/{number}").readlink()).startswith("pipe:"):
                found.append(number)
        except OSError:
            continue
    return found


class Writes(Doing):
    data = b""

    def do(self, scene: Any) -> None:
        for number in pipes():
            try:
                os.write(number, self.data)
            except OSError:
                continue


@hostile("writes noise into the pipe of its answer", reason="cannot be read")
class WritesNoise(Writes):
    data = LENGTHS.pack(40, 10) + bytes(range(256)) * 4


@hostile("announces an answer of two exabytes", reason="announces 2305843009213693952 bytes")
class Announces(Writes):
    data = LENGTHS.pack(2**60, 2**60)


@hostile("an answer of its own that is a list", reason="cannot be read")
class AnswersList(Writes):
    data = LENGTHS.pack(2, 0) + b"[]"


@hostile("an answer that is nested 100,000 deep", reason="cannot be read")
class AnswersDeep(Writes):
    data = LENGTHS.pack(200_000, 0) + b"[" * 100_000 + b"]" * 100_000


@hostile("an answer of its own before ours", reason="2 answers")
class AnswersTwice(Writes):
    data = pack({"outcome": "completed", "reason": "", "id": 1})


@hostile("an answer with another outcome, of another request", reason="outcome is 'perfect'")
class Forges(Writes):
    data = pack({"outcome": "perfect", "reason": "", "id": 999_999, "more": True, "trajectory_bytes": -7})

    def do(self, scene: Any) -> None:
        super().do(scene)
        os._exit(0)


@hostile("an answer with a motion that is none", reason="gave no trajectory")
class ForgesMotion(Writes):
    data = pack({"outcome": "completed", "reason": "", "trajectory_bytes": 6, "cpu_share": 1.0}, b"[1, 2]")

    def do(self, scene: Any) -> None:
        super().do(scene)
        os._exit(0)


@hostile("a pipe kept open by what it left behind", "completed")
class HoldsPipe(Doing):
    def do(self, scene: Any) -> None:
        if os.fork() == 0:
            os.setsid()
            os.dup2(pipes()[-1], 200)
            sleeping()


# --- what it changes around it ---------------------------------------------------------------------------------------


@hostile("another folder, mask, locale, signals, limits, environment", "completed")
class ChangesAll(Doing):
    def do(self, scene: Any) -> None:
        os.chdir("/")
        os.umask(0o777)
        locale.setlocale(locale.LC_ALL, "C")
        for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.environ.clear()
        os.nice(10)


@hostile("the same, when it is loaded", "completed")
class ChangesAllAtImport(Honest):
    def __init__(self) -> None:
        ChangesAll().do(None)


@hostile("no file may grow", "completed")
class LimitsFiles(Doing):
    def do(self, scene: Any) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@hostile("a second of the processor", reason="SIGXCPU")
class LimitsProcessor(Doing):
    def do(self, scene: Any) -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (1, resource.RLIM_INFINITY))
        while True:
            pass


@hostile("no descriptor more, when it is loaded")  # what it fails at is another file from machine to machine
class LimitsDescriptorsAtImport(Honest):
    def __init__(self) -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))


@hostile("deletes the folder in which it is", "completed")
class DeletesFolder(Doing):
    def do(self, scene: Any) -> None:
        folder = tempfile.mkdtemp()
        os.chdir(folder)
        shutil.rmtree(folder)


@hostile("changes its scene, to the last number", "completed")
class MutatesScene(Doing):
    def do(self, scene: Any) -> None:
        set_it = object.__setattr__
        set_it(scene, "duration", 1e-3)
        for body in scene.bodies:
            set_it(body, "name", "\x1b[2J")
            set_it(body, "position", (1e300, np.nan))
            set_it(body.shape, "radius", -1.0)
        set_it(scene, "bodies", ())
        motion = Honest().simulate(self.whole, 1.0 / 240.0, {})
        return motion

    def simulate(self, scene: Any, dt: float, settings: Any) -> Any:
        self.whole = scene.model_copy(deep=True)
        return super().simulate(scene, dt, settings)


@hostile("numpy raises, prints and counts otherwise", "completed")
class MutatesNumpy(Doing):
    def do(self, scene: Any) -> None:
        np.seterr(all="raise")
        np.random.seed(1)
        random.seed(1)
        np.set_printoptions(precision=1, threshold=1)
        gc.disable()
        sys.setswitchinterval(1e-6)
        sys.setrecursionlimit(200)


@hostile("another function in place of ours", reason="gave no trajectory")
class MutatesUs(Doing):
    def do(self, scene: Any) -> None:
        validation.running.processes.child.to_bytes = lambda motion: b"{}\n"  # type: ignore[attr-defined]


@hostile("our checks that find nothing, and a motion of nothing", reason="gave no trajectory")
class MutatesChecks(Doing):
    def do(self, scene: Any) -> None:
        child, encode = validation.running.processes.child, to_bytes
        child.to_bytes = lambda motion: encode(motion).replace(b'"dt": ', b'"dt": "x", "dtt": ')  # type: ignore[attr-defined]


@hostile("NaN behind checks that find nothing", "not_finite", "is not finite")
class HidesNaN(Doing):
    def do(self, scene: Any) -> None:
        child, encode = validation.running.processes.child, to_bytes

        def with_nan(motion: Any) -> bytes:
            line, _, body = encode(motion).partition(b"\n")
            return line + b"\n" + body[: len(body) // 2] + b"\xff" * 8 + body[len(body) // 2 + 8 :]

        child.to_bytes = with_nan  # type: ignore[attr-defined]


# --- leaving ---------------------------------------------------------------------------------------------------------


class NoWords(Exception):  # noqa: N818
    def __str__(self) -> str:
        raise ValueError("no words")


class Raising(Doing):
    error: BaseException = RuntimeError()

    def do(self, scene: Any) -> None:
        raise self.error


@hostile("sys.exit()", reason="SystemExit")
class Exits(Raising):
    error = SystemExit()


@hostile("os._exit(0)", reason="exit status 0")
class ExitsAtOnce(Doing):
    def do(self, scene: Any) -> None:
        os._exit(0)


@hostile("KeyboardInterrupt", reason="KeyboardInterrupt")
class Interrupts(Raising):
    error = KeyboardInterrupt()


@hostile("GeneratorExit", reason="GeneratorExit")
class LeavesGenerator(Raising):
    error = GeneratorExit("why")


@hostile("MemoryError", "out_of_memory", "MemoryError: none left")
class SaysOutOfMemory(Raising):
    error = MemoryError("none left")


@hostile("an exception that cannot be printed", reason="NoWords")
class Wordless(Raising):
    error = NoWords()


@hostile("an exception of ten million characters", reason="ValueError: xxx")
class Wordy(Raising):
    error = ValueError("x" * 10**7)


@hostile("an exception with escape codes, NUL and half a character", reason="ValueError: ")
class Colourful(Raising):
    error = ValueError("\x1b[2J\x1b]0;title\x07 \x00 \ud800 \u202e end")


@hostile("an exception with the name of one of ours", reason="KeyError: 'id'")
class Impersonates(Raising):
    error = KeyError("id")


@hostile("SystemExit in declines", reason="SystemExit")
class ExitsInDeclines(Honest):
    def declines(self, scene: Any) -> str | None:
        raise SystemExit(0)


@hostile("os._exit in declines", reason="exit status 0")
class ExitsAtOnceInDeclines(Honest):
    def declines(self, scene: Any) -> str | None:
        os._exit(0)


@hostile("SystemExit when it is loaded", reason="SystemExit")
class ExitsAtImport(Honest):
    def __init__(self) -> None:
        raise SystemExit(0)


@hostile("os._exit when it is loaded", reason="exit status 0")
class ExitsAtOnceAtImport(Honest):
    def __init__(self) -> None:
        os._exit(0)


@hostile("KeyboardInterrupt when it is loaded", reason="KeyboardInterrupt")
class InterruptsAtImport(Honest):
    def __init__(self) -> None:
        raise KeyboardInterrupt


@hostile("segmentation fault when it is loaded", reason="SIGSEGV")
class SegfaultsAtImport(Honest):
    def __init__(self) -> None:
        ctypes.string_at(0)


@hostile("hangs when it is loaded", "timed_out", "did not start within")
class HangsAtImport(Honest):
    def __init__(self) -> None:
        detached()
        sleeping()


@hostile("prints when it is loaded", "completed")
class PrintsAtImport(Honest):
    def __init__(self) -> None:
        for _ in range(1000):
            print("\x1b[2J" * 1000)


@hostile("closes all descriptors when it is loaded", reason="the process that imports it")
class ClosesAllAtImport(Honest):
    def __init__(self) -> None:
        os.closerange(0, 4096)


@hostile("writes noise to our connection when it is loaded", reason="cannot be read")
class WritesAtImport(Honest):
    def __init__(self) -> None:
        os.write(int(sys.argv[2]), LENGTHS.pack(4, 0) + b"!!!!")


@hostile("another hello when it is loaded", reason="cannot be read")
class ForgesHello(Honest):
    def __init__(self) -> None:
        os.write(int(sys.argv[2]), pack({"name": 5, "version": ["x"] * 3, "profiles": [], "settings": None}))
