"""The process of one visitor's playground.

    python -P -m validation.tools.playground.serve DESCRIPTOR PARENT [ENGINE ...]

It starts the engines that are asked for first, and imports what it needs itself meanwhile. With ENGINEs it does so
before its visitor comes; what this one does not want of them ends then.
"""

import base64
import json
import signal
import socket
import sys
import zlib
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from validation.engines import EngineNameError, engine_of
from validation.engines.shared.lifeline import die_with_parent
from validation.running.kernel_cache import use_kernel_cache
from validation.running.processes.frames import ClosedError, Reader, receive
from validation.running.processes.pool import Pool
from validation.tools.playground import ENGINES

MOST_BYTES = 4 * 2**20


def engines_in(message: dict[str, Any]) -> list[str]:
    """The engines, without settings, that a setup asks for which nobody has checked yet, as far as they are registered
    and of no version of their own; none where it cannot be read."""
    setup = message.get("setup")
    with suppress(ValueError, zlib.error):
        if isinstance(setup, str):
            setup = json.loads(zlib.decompressobj().decompress(base64.urlsafe_b64decode(setup + "=="), MOST_BYTES))
    asked = setup.get("engines", ENGINES) if isinstance(setup, dict) else ()
    return registered(asked) if isinstance(asked, (list, tuple)) else []


def registered(words: Iterable[Any]) -> list[str]:
    found = []
    for word in words:
        with suppress(EngineNameError):
            choice = engine_of(str(word))
            if choice.kind == "registered" and choice.version is None:
                found.append(choice.word)
    return list(dict.fromkeys(found))


def main() -> None:
    descriptor, parent, warm = int(sys.argv[1]), int(sys.argv[2]), registered(sys.argv[3:])
    die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    use_kernel_cache()
    connection = socket.socket(fileno=descriptor)
    reader = Reader()
    with Pool() as pool, suppress(ClosedError, BrokenPipeError, ConnectionResetError):
        first: list[dict[str, Any]] = []
        if not warm:
            first = ask(connection, reader)
        for word in warm or engines_in(first[0]):
            pool.start_engine(word)
        from validation.tools.playground.session import Session

        pool.start_measuring()  # last: nobody waits for it before the first frame
        if warm:
            first = ask(connection, reader)
            wanted = engines_in(first[0])
            for word in set(wanted) - set(warm):
                pool.start_engine(word)
            pool.stop(*(remote for remote in pool.remotes if remote.what in set(warm) - set(wanted)))
        Session(connection, pool, first).serve()


def ask(connection: socket.socket, reader: Reader) -> list[dict[str, Any]]:
    """What a visitor says first; raises ClosedError if nobody comes."""
    first: list[dict[str, Any]] = []
    while not first:
        first = [header for header, _ in receive(connection, reader)]
    return first


if __name__ == "__main__":
    main()
