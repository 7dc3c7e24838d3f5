"""What a worker of a Dask cluster does for us: Dask calls these functions.

Requests and answers are JSON and raw bytes (`frames`), as between our own processes.

    greet(session, wanted)     what each engine's server here says, or what is other here than where it is asked from
    answer(request, body)      one request to an engine's server, with its motion measured where that is asked for
    end(session)               what a command has asked for is ended, and the servers of code that may change
"""

from __future__ import annotations

import asyncio
import functools
import json
import threading
from typing import Any

from validation.engines import EngineNameError, engine_of
from validation.running import kernel_cache
from validation.running.cluster.identity import (
    Identity,
    compared,
    differing,
    engine_identity,
    is_released,
    our_identity,
)
from validation.running.cluster.servers import Key, Servers
from validation.running.environments import environment_of, is_here
from validation.running.kernel_cache import CacheError
from validation.running.package_index import BuildError
from validation.running.processes.executor import MEASURING
from validation.running.processes.frames import pack
from validation.running.runner import MEASURING_LIMIT

OURS = our_identity()  # of what this process has loaded, not of what may lie there later
FAULTS = (EngineNameError, BuildError, CacheError, OSError)
END_LIMIT = 5.0  # s for what is ended to be gone
_first = threading.Lock()
_ended: set[str] = set()


@functools.cache
def _servers() -> Servers:
    """Of this process, whose kernels are compiled. Raises CacheError."""
    folder = kernel_cache.use_kernel_cache()
    if not kernel_cache.is_warm(folder):
        kernel_cache.warm(folder)
    return Servers()


def servers() -> Servers:
    with _first:
        return _servers()


def identity_of(word: str) -> dict[str, str]:
    """Of an engine here, or of measuring. Raises EngineNameError, BuildError."""
    return OURS | ({} if word == MEASURING else engine_identity(engine_of(word)))


@functools.lru_cache(maxsize=256)
def _hello(session: str, word: str, wanted: str) -> tuple[Key, dict[str, Any]]:
    """Which server this session asks, and what it says; {"differs": ...} where it is another than is `wanted`."""
    expected: Identity = json.loads(wanted)
    if why := differing({name: expected.get(name, "") for name in OURS}, OURS):
        return (word, ""), {"differs": why}
    if word == MEASURING:
        return (word, ""), servers().hello((word, ""))
    try:
        choice = engine_of(word)
        if why := differing(expected, identity_of(word)):
            return (word, ""), {"differs": why}
        key = word, wanted if is_released(word) else session
        return key, servers().hello(key, None if is_here(choice) else environment_of(choice).command)
    except FAULTS as error:
        return (word, ""), {"lacks": " ".join(str(error).split())}


async def greet(session: str, wanted: dict[str, str]) -> str:
    """`wanted`: word -> identity, as JSON. -> JSON: word -> hello, "lacks" or "differs"."""
    answers = await asyncio.gather(*(asyncio.to_thread(_hello, session, *one) for one in wanted.items()))
    return json.dumps({word: hello for word, (_, hello) in zip(wanted, answers)})


def answer(request: str, body: bytes) -> bytes:
    """`request`: JSON of "session", "word", "identity", "hello" (as planned with) and "header". -> a frame; {"refused":
    why} where this worker is not what was planned with."""
    asked = json.loads(request)
    session, word, header = asked["session"], asked["word"], asked["header"]
    if session in _ended:
        return pack({"outcome": "ended", "reason": "the command that asked for it has ended"})
    key, hello = _hello(session, word, asked["identity"])
    why = hello.get("differs") or hello.get("lacks") or hello.get("error")
    if why is None:
        why = differing(asked["hello"], compared(hello), "of the workers before")
    if why:
        _hello.cache_clear()  # it may be mended meanwhile
        return pack({"refused": why})
    wanted = header.pop("measure", None)
    if word == MEASURING:
        return pack(*_measured(session, header, body))
    reply, motion = servers().ask(session, key, header, body)
    if wanted is not None and reply.get("outcome") == "completed":
        reply["measured"], _ = _measured(session, wanted, motion[: reply["trajectory_bytes"]])
    return pack(reply, motion)


def _measured(session: str, header: dict[str, Any], motion: bytes) -> tuple[dict[str, Any], bytes]:
    return servers().ask(session, (MEASURING, ""), header | {"time_limit": MEASURING_LIMIT}, motion)


async def end(session: str) -> None:
    _ended.add(session)
    if _servers.cache_info().currsize:
        await asyncio.wait_for(asyncio.to_thread(servers().end, session), END_LIMIT)


async def let_go(session: str, wanted: dict[str, str]) -> None:
    """Servers that the session does not ask any more."""
    for word, identity in wanted.items():
        key, _ = await asyncio.to_thread(_hello, session, word, identity)
        servers().stop_idle(key)
