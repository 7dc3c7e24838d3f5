"""The playground's page, and the connection between a browser and the process that runs what it shows.

A message from the browser is JSON text; what goes there is bytes: length of a header, length of a body, the header as
JSON, the body, as our own processes speak.
"""

import asyncio
import contextlib
import json
import os
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from dashboard import sign_in
from dashboard.playground import client
from dashboard.playground.processes import LATER, spare
from validation.review.sign_in import Visitor
from validation.running.processes.frames import pack
from validation.tools.playground.serve import engines_in
from validation.tools.playground.setup import MOST_ENGINES

LOCAL = ("127.0.0.1", "localhost", "::1")
MOST_VISITORS = 4  # each has processes of its own
MOST_TEXT = 4 * 2**20  # characters of a message
SECURITY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data: blob:; frame-ancestors 'self'",
    "Cache-Control": "no-store",
}
visitors: set[WebSocket] = set()


def enabled() -> bool:
    """Whether this dashboard lets visitors run something: `upright dashboard` says so."""
    return bool(os.environ.get("UPRIGHT_PLAY"))


async def page(request: Request) -> Response:
    if not enabled():
        return PlainTextResponse("The playground is off here; start the dashboard with --play.", status_code=403)
    if len(visitors) < MOST_VISITORS:
        spare.expect()
    return HTMLResponse(client.page(request.query_params.get("theme", "")), headers=SECURITY)


async def connection(browser: WebSocket) -> None:
    if not enabled() or not is_ours(browser) or not may_play(browser):
        await browser.close(code=1008)
        return
    await browser.accept()
    if len(visitors) >= MOST_VISITORS:
        await browser.send_bytes(
            pack({"kind": "error", "text": f"{MOST_VISITORS} people are playing already; try again when one has left"})
        )
        await browser.close(code=1013)
        return
    visitors.add(browser)
    try:
        await relay(browser)
    finally:
        visitors.discard(browser)


def is_ours(browser: WebSocket) -> bool:
    """Whether the page that connects came from this server. On this machine alone, by that machine's own names: a
    page from elsewhere whose name was made to mean this machine has the same origin and host."""
    host = browser.headers.get("host", "")
    origin = urlsplit(browser.headers.get("origin", ""))
    if not host or origin.netloc != host:
        return False
    return os.environ.get("UPRIGHT_PLAY") != "local" or (origin.hostname or "") in LOCAL


def may_play(browser: WebSocket) -> bool:
    """Whoever is there, or, where people sign in, whoever is signed in now."""
    return not sign_in.required() or bool(visitor(browser).name)


def visitor(browser: WebSocket) -> Visitor:
    return sign_in.visitor_of(sign_in.claims_of(browser) if sign_in.required() else {})


async def relay(browser: WebSocket) -> None:
    """Until either side leaves. The process ends with its connection."""
    running = spare.take()
    if len(visitors) < MOST_VISITORS:
        spare.expect(LATER)
    reader, writer = await asyncio.open_connection(sock=running.connection, limit=1 << 22)
    ways = [asyncio.ensure_future(way) for way in (_from_browser(browser, writer), _to_browser(browser, reader))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        writer.close()
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):
            await browser.close()
        await asyncio.to_thread(running.end)


async def _from_browser(browser: WebSocket, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(WebSocketDisconnect):
        while True:
            text = await browser.receive_text()
            if len(text) > MOST_TEXT:
                continue
            try:
                message = json.loads(text)
            except ValueError:
                continue
            if isinstance(message, dict):
                if not may_play(browser):
                    return
                # What the process may store is decided here: it does not know who asks.
                message["refusal"] = visitor(browser).refusal
                if message.get("do") == "setup":
                    spare.engines = engines_in(message)[:MOST_ENGINES] or spare.engines
                writer.write(pack(message))
                await writer.drain()


async def _to_browser(browser: WebSocket, reader: asyncio.StreamReader) -> None:
    with contextlib.suppress(asyncio.IncompleteReadError, RuntimeError, WebSocketDisconnect):
        while True:
            lengths = await reader.readexactly(16)
            size = int.from_bytes(lengths[:8], "little") + int.from_bytes(lengths[8:], "little")
            await browser.send_bytes(lengths + await reader.readexactly(size))


ROUTES = [Route("/play/page", page), WebSocketRoute("/play/connection", connection)]
