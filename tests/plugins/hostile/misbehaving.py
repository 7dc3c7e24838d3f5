"""Engines that start, kill and stop processes, or use more time and memory than they may."""

from __future__ import annotations

import atexit
import ctypes
import mmap
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
from honest import ENGINES, FOREVER, Doing, Flight, Honest, detached, hostile, sleeping

__all__ = ["ENGINES"]
MIB = 2**20


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
