"""The process of one visitor's playground.

    python -P -m validation.tools.playground.serve DESCRIPTOR PARENT

It starts the engines that are asked for first, and imports what it needs itself meanwhile.
"""

import base64
import json
import signal
import socket
import sys
import zlib
from contextlib import suppress
from typing import Any

from validation.engines import EngineNameError, engine_of
from validation.engines.shared.lifeline import die_with_parent
from validation.running.kernel_cache import use_kernel_cache
from validation.running.processes.frames import ClosedError, Reader, receive
from validation.running.processes.pool import Pool

MOST_BYTES = 4 * 2**20


def engines_in(message: dict[str, Any]) -> list[str]:
    """Words for engines in a setup that nobody has checked yet; none where it cannot be read."""
    setup = message.get("setup")
    with suppress(ValueError, zlib.error):
        if isinstance(setup, str):
            setup = json.loads(zlib.decompressobj().decompress(base64.urlsafe_b64decode(setup + "=="), MOST_BYTES))
    found = setup.get("engines") if isinstance(setup, dict) else None
    return [word for word in found if isinstance(word, str)] if isinstance(found, list) else []


def main() -> None:
    descriptor, parent = int(sys.argv[1]), int(sys.argv[2])
    die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    use_kernel_cache()
    connection = socket.socket(fileno=descriptor)
    reader = Reader()
    with Pool() as pool, suppress(ClosedError, BrokenPipeError, ConnectionResetError):
        first: list[dict[str, Any]] = []
        while not first:
            first = [header for header, _ in receive(connection, reader)]
        pool.start_measuring()
        for word in dict.fromkeys(engines_in(first[0])):
            with suppress(EngineNameError):
                choice = engine_of(word)
                if choice.kind == "registered" and choice.version is None:
                    start_once(pool, choice.word)
        from validation.tools.playground.session import Session

        Session(connection, pool, first).serve()


def start_once(pool: Pool, word: str) -> None:
    if word not in [remote.what for remote in pool.remotes]:
        pool.start_engine(word)


if __name__ == "__main__":
    main()
