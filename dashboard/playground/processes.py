"""The processes that run what visitors see: one a visitor, and one that is ready before its visitor comes.

To import engines takes seconds, which nobody waits for who gets the process that is ready. It starts when somebody
opens the page, and once more soon after it was taken; it ends when nobody has come for a while.
"""

import asyncio
import os
import socket
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from validation.running.processes.pool import own
from validation.tools.playground.presets import PRESETS

LATER = 5.0  # s after a visitor came, who needs the processor first
UNUSED = 600.0  # s after which it ends


@dataclass(frozen=True, slots=True)
class Running:
    process: "subprocess.Popen[bytes]"
    connection: socket.socket

    def end(self) -> None:
        """It leaves by itself when the connection is closed, with its engines; what does not is killed."""
        try:
            self.process.wait(5.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def started(engines: Sequence[str] = ()) -> Running:
    """A process with these engines imported, or soon. Call it in the thread that lives as long as the server: the
    process ends with the thread that started it."""
    ours, theirs = socket.socketpair()
    with theirs:
        command = [*own("validation.tools.playground.serve"), str(theirs.fileno()), str(os.getpid()), *engines]
        errors = None if os.environ.get("UPRIGHT_DEBUG") else subprocess.DEVNULL
        process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors
        )
    return Running(process, ours)


class Spare:
    """At most one process that waits for its visitor, with the `engines` that the latest visitor began with."""

    def __init__(self) -> None:
        self.waiting: Running | None = None
        self.timer: asyncio.Future[None] | None = None
        self.engines: Sequence[str] = PRESETS[0].setup.engines

    def expect(self, after: float = 0.0) -> None:
        """Somebody may come: be ready, and stay so for a while."""
        if self.timer:
            self.timer.cancel()
        self.timer = asyncio.ensure_future(self._wait(after))

    def take(self) -> Running:
        """The one that waits, or a new one."""
        taken, self.waiting = self.waiting, None
        if taken and taken.process.poll() is not None:
            taken.connection.close()
            taken = None
        return taken or started()

    async def end(self) -> None:
        waiting, self.waiting = self.waiting, None
        if waiting:
            waiting.connection.close()
            await asyncio.to_thread(waiting.end)

    async def _wait(self, after: float) -> None:
        await asyncio.sleep(after)
        if self.waiting is None:
            self.waiting = started(self.engines)
        await asyncio.sleep(UNUSED)
        await self.end()


spare = Spare()
