"""Who is at a page: the person that the sign-in file's provider vouches for, or the name of --accept-as.

Every page and every write asks here, of the session as the server has it; the file is read anew each time it changes,
so that a reviewer whom it names no longer may not decide from then on.
"""

import hashlib
import json
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from dashboard.elements import heading, paragraph, text
from validation.review.ledger import LedgerError
from validation.review.sign_in import NOBODY, OF_ENVIRONMENT, SignIn, SignInError, Visitor, parse_sign_in

FILE = "UPRIGHT_SIGN_IN"
WHO = "UPRIGHT_ACCEPT_AS"
READS = "This session only reads."
OPEN = ("health", "script-health-check", "host-config", "stream")  # of /_stcore: what a page needs to ask for a sign-in
CLOSED = ("media", "component", "app")  # first names of other addresses that have contents
MOST_ENDED = 10_000
FAILED = "refused"  # in the address of the page that somebody comes back to without being signed in
SIGNED = re.compile(r"_streamlit_user=[^;\"]")  # a cookie that is set, not removed
BACK = "upright_back"
OWN_PAGE = re.compile(r"/(?![/\\])[!-~]{0,2000}$")  # an address of this server, none of another one

_secrets: dict[str, str] = {}  # of the environment, which the engines' processes do not have to see
_known: tuple[tuple[str, int, int], SignIn] | None = None
_ended: dict[str, None] = {}  # sign-ins that were signed out


def required() -> bool:
    """Whether this dashboard has a sign-in file."""
    return bool(os.environ.get(FILE))


def settings() -> SignIn:
    """As the file stands now. Raises SignInError."""
    global _known
    path = os.environ[FILE]
    _secrets.update({name: os.environ.pop(name) for name in OF_ENVIRONMENT.values() if name in os.environ})
    try:
        status = Path(path).stat()
        state = (path, status.st_mtime_ns, status.st_size)
        if _known is None or _known[0] != state:
            _known = (state, parse_sign_in(Path(path).read_text(encoding="utf-8"), _secrets))
    except (OSError, UnicodeDecodeError) as error:
        raise SignInError(f"it cannot be read: {error.__class__.__name__}") from None
    return _known[1]


def secrets() -> dict[str, Any]:
    """For Streamlit; {} without a sign-in file. Raises SignInError."""
    return settings().secrets() if required() else {}


# --- who is there -------------------------------------------------------------------------------------------------


def visitor_of(claims: Mapping[str, Any]) -> Visitor:
    """By the file as it stands now; nobody, where it cannot be read."""
    if not required():
        name = os.environ.get(WHO, "").strip()
        return Visitor(name=name, refusal="" if name else READS)
    try:
        found = settings().visitor(claims, time.time())
    except SignInError:
        return Visitor(refusal="The sign-in file of this dashboard cannot be used, so nobody may decide.")
    return Visitor(refusal="You have signed out. Sign in again.") if found.name and _key(claims) in _ended else found


def claims() -> Mapping[str, Any]:
    """Of the session whose page or press this is, as it began; Streamlit has them from its signed cookie."""
    return st.user.to_dict() if required() else {}


def visitor() -> Visitor:
    """Of this session, now."""
    return visitor_of(claims())


def reviewer() -> str:
    """The name that a decision is written in. Raises LedgerError where this session may not decide."""
    found = visitor()
    if found.refusal:
        raise LedgerError(f"{found.refusal} Nothing was written.")
    return found.name


def may_read(found: Visitor) -> bool:
    if not required() or found.name:
        return True
    try:
        return settings().public
    except SignInError:
        return False


def _key(claims: Mapping[str, Any]) -> str:
    """Of one sign-in."""
    known = json.dumps([claims.get(name) for name in ("iss", "sub", "iat", "nonce")])
    return hashlib.sha256(known.encode()).hexdigest()


def end(claims: Mapping[str, Any]) -> None:
    """Signed out: other windows, and copies of the cookie, end too."""
    _ended[_key(claims)] = None
    while len(_ended) > MOST_ENDED:
        del _ended[next(iter(_ended))]


def claims_of(connection: HTTPConnection) -> Mapping[str, Any]:
    """Of the cookie that Streamlit has signed; {} where there is none that is of this dashboard."""
    from streamlit.auth_util import get_cookie_with_chunks
    from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
    from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

    try:
        known = settings()
        secret = known.auth.cookie_secret.get_secret_value()
        whole = get_cookie_with_chunks(
            lambda name: decode_signed_value(secret, name, connection.cookies.get(name, "").encode("latin-1")),
            USER_COOKIE_NAME,
        )
        claims = json.loads(whole) if whole else {}
    except (SignInError, ValueError):
        return {}
    return claims if isinstance(claims, dict) and claims.get("origin") == known.origin else {}


# --- pages --------------------------------------------------------------------------------------------------------


def gate() -> None:
    """Above every page: who is signed in. Ends the page of somebody who may not read it."""
    if not required():
        return
    found = visitor()
    with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
        if found.name:
            paragraph(f"Signed in as {text(found.name)}", "soft")
            if st.button("Sign out", key="sign-out", type="tertiary"):
                end(claims())
                st.logout()
                st.stop()
        elif may_read(found):
            _sign_in(found)
    if not may_read(found):
        heading("Sign in to read this dashboard")
        if FAILED in st.query_params:
            why = "You cancelled it, or what the provider sent was refused; the server's log has the reason."
            paragraph(f"You came back without a sign-in. {why}", "alarm")
        elif found.refusal != NOBODY:
            paragraph(text(found.refusal))
        _sign_in(found)
        st.stop()


def _sign_in(found: Visitor) -> None:
    if st.button("Sign in", key="sign-in", type="primary" if not may_read(found) else "tertiary"):
        st.login()
        st.stop()


# --- requests -----------------------------------------------------------------------------------------------------


class Gate:
    """Before all routes: what has contents is answered to those only who may read; the playground, which runs
    something, to those who are signed in. Whoever signs in comes back to the page that they had asked for."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and required():
            names = _names(scope["path"])
            connection = HTTPConnection(scope)
            found = claims_of(connection)
            if names == ["auth", "logout"] and found:
                end(found)
            if not _is_open(names, visitor_of(found)):
                await _refuse(scope, receive, send)
                return
            if names in (["auth", "login"], ["oauth2callback"]):
                send = _with_way_back(connection, send, back=names == ["oauth2callback"])
        await self.app(scope, receive, send)


def _with_way_back(connection: HTTPConnection, send: Send, *, back: bool) -> Send:
    """The page that asks for a sign-in is put into a cookie, and after the sign-in taken from there."""
    asked, remembered = urlsplit(connection.headers.get("referer", "")), unquote(connection.cookies.get(BACK, ""))
    target = f"{asked.path}?{asked.query}" if asked.netloc == connection.headers.get("host") else ""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 302:
            headers = MutableHeaders(scope=message)
            if back:
                to = urlsplit(remembered if OWN_PAGE.match(remembered) else headers["location"])
                query = [(name, value) for name, value in parse_qsl(to.query) if name != FAILED]
                query += [] if any(map(SIGNED.match, headers.getlist("set-cookie"))) else [(FAILED, "yes")]
                headers["location"] = urlunsplit(("", "", to.path, urlencode(query), ""))
            remember = "" if back else quote(target, safe="/")
            headers.append(
                "set-cookie", f"{BACK}={remember}; Path=/; Max-Age={600 if remember else 0}; HttpOnly; SameSite=Lax"
            )
        await send(message)

    return sending


def _is_open(names: list[str], found: Visitor) -> bool:
    """Whether an address answers this visitor."""
    first, second = (*names, "", "")[:2]
    if first == "play":
        return bool(found.name)
    return may_read(found) or not (first in CLOSED or (first == "_stcore" and second not in OPEN))


def _names(path: str) -> list[str]:
    """Of an address below that of the dashboard."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    names = [name for name in path.split("/") if name]
    before = base.split("/") if base else []
    return names[len(before) :] if names[: len(before)] == before else names


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await WebSocketClose(code=1008, reason=NOBODY)(scope, receive, send)
    else:
        await PlainTextResponse(f"{NOBODY} Open the dashboard and sign in.", status_code=401)(scope, receive, send)
