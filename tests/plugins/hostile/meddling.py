"""Engines that write where they should not, change what is around them, or leave without an answer."""

from __future__ import annotations

import ctypes
import gc
import locale
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from honest import ENGINES, Doing, Honest, detached, hostile, sleeping

import validation.engines.answers
import validation.records.trajectory
import validation.running.processes.child
from validation.records.trajectory import to_bytes
from validation.running.processes.frames import LENGTHS, pack

__all__ = ["ENGINES"]
MIB = 2**20


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
