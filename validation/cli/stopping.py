"""Commands that are stopped: Ctrl-C, or a signal to end."""

import os
import signal
import sys
import threading
from types import FrameType
from typing import Any

SOON = 0.02  # s, after which a stop that compiled code has swallowed comes again


def stop_as_with_ctrl_c(number: int, frame: FrameType | None) -> None:
    """A signal to end, as CI servers send it, is Ctrl-C: what is done is stored, and a line says how to go on. Once,
    for a group of processes may be sent it twice."""
    signal.signal(number, signal.SIG_IGN)
    stop = signal.getsignal(signal.SIGINT)
    if not callable(stop):  # started with SIGINT ignored, as in the background
        raise KeyboardInterrupt
    stop(signal.SIGINT, frame)


def stop_again(swallowed: Any) -> None:
    """What `sys.unraisablehook` calls: a stop that fell into a callback of compiled code, where no exception can leave,
    comes again a moment later. Other exceptions are printed as ever."""
    if swallowed.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(swallowed)
        return

    number = signal.SIGINT
    if signal.getsignal(number) is signal.SIG_IGN:
        number = signal.SIGTERM
        signal.signal(number, stop_as_with_ctrl_c)
    threading.Timer(SOON, os.kill, (os.getpid(), number)).start()


def stopped_status() -> int:
    """The exit status of a command that was stopped: 128 and the number of the signal, as shells have it."""
    ended = signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    return 128 + (signal.SIGTERM if ended else signal.SIGINT)
