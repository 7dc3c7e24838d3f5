"""Requests to an ASGI application in the test's own process."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any


def answered(application: Any, path: str, headers: Mapping[str, str] | None = None) -> int:
    """Status of the answer to a GET."""
    return int(next(m["status"] for m in _sent("http", application, path, headers) if "status" in m))


def opened(application: Any, path: str, headers: Mapping[str, str] | None = None) -> bool:
    """Whether a WebSocket is accepted."""
    return any(m["type"] == "websocket.accept" for m in _sent("websocket", application, path, headers))


def _sent(kind: str, application: Any, path: str, headers: Mapping[str, str] | None) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []
    encoded = [(name.encode(), value.encode()) for name, value in {"host": "server", **(headers or {})}.items()]
    scope = {"type": kind, "path": path, "raw_path": path.encode(), "query_string": b"", "headers": encoded}
    scope |= {"method": "GET"} if kind == "http" else {"subprotocols": []}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""} if kind == "http" else {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(application(scope, receive, send))
    return sent
