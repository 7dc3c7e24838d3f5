"""Commands that are stopped: Ctrl-C, or a signal to end."""

import signal
from types import FrameType


def stop_as_with_ctrl_c(number: int, frame: FrameType | None) -> None:
    """A signal to end, as CI servers send it, is Ctrl-C: what is done is stored, and a line says how to go on. Once,
    for a group of processes may be sent it twice."""
    signal.signal(number, signal.SIG_IGN)
    stop = signal.getsignal(signal.SIGINT)
    if not callable(stop):  # started with SIGINT ignored, as in the background
        raise KeyboardInterrupt
    stop(signal.SIGINT, frame)


def stopped_status() -> int:
    """The exit status of a command that was stopped: 128 and the number of the signal, as shells have it."""
    ended = signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    return 128 + (signal.SIGTERM if ended else signal.SIGINT)
