"""A provider of identities for tests: OpenID Connect Core 1.0 with code flow and PKCE, tokens signed with RS256.

Whoever presses a name on its page is that person. A fault makes the token wrong in one way, as a forger would.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "upright", "client-secret-6f1d0c2b9a"
FAULTS = ("expired", "audience", "azp", "issuer", "signature", "unsigned", "public key as secret", "nonce", "old")


@dataclass
class Provider:
    address: str = ""
    people: dict[str, dict[str, Any]] = field(default_factory=dict)  # name -> claims
    fault: str = ""  # of FAULTS
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    issued: list[str] = field(default_factory=list)  # tokens
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one"}))
    forger: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one"}))

    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.address,
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "jwks_uri": f"{self.address}/keys",
            "userinfo_endpoint": f"{self.address}/userinfo",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def code(self, asked: dict[str, str]) -> str:
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        return code

    def tokens(self, form: dict[str, str]) -> dict[str, Any] | None:
        """None for a code that is unknown or was used, or another verifier than the challenge is of."""
        asked = self.codes.pop(form.get("code", ""), None)
        if asked is None:
            return None
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != asked["code_challenge"]:
            return None
        now = int(time.time())
        claims = {"iss": self.address, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": asked["nonce"]}
        claims |= {"sub": asked["person"], **self.people[asked["person"]]}
        claims |= {
            "expired": {"iat": now - 7200, "exp": now - 3600},
            "audience": {"aud": "another-client"},
            "azp": {"aud": "another-client", "azp": CLIENT},
            "issuer": {"iss": "https://another.example"},
            "nonce": {"nonce": "of-another-sign-in"},
            "old": {"iat": now - 9 * 3600, "exp": now + 300},
        }.get(self.fault, {})
        token = self.signed(claims)
        access = secrets.token_urlsafe(24)
        self.issued += [token, access]
        return {"access_token": access, "token_type": "Bearer", "expires_in": 300, "id_token": token}

    def signed(self, claims: dict[str, Any]) -> str:
        if self.fault == "unsigned":
            return f"{encoded({'alg': 'none'})}.{encoded(claims)}."
        if self.fault == "public key as secret":  # a library that lets the token choose its algorithm takes it
            whole = f"{encoded({'alg': 'HS256', 'kid': 'one'})}.{encoded(claims)}"
            mac = hmac.new(self.key.as_pem(private=False), whole.encode(), hashlib.sha256).digest()
            return f"{whole}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"
        key = self.forger if self.fault == "signature" else self.key
        return jwt.encode({"alg": "RS256", "kid": "one"}, claims, key)


def encoded(part: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


@contextmanager
def served_provider(**people: dict[str, Any]) -> Iterator[Provider]:
    provider = Provider(people=people)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(asked.query).items()}
            if asked.path == "/.well-known/openid-configuration":
                self.answer(json.dumps(provider.metadata()))
            elif asked.path == "/keys":
                self.answer(json.dumps({"keys": [provider.key.as_dict(private=False)]}))
            elif asked.path == "/authorize" and query.get("client_id") == CLIENT and query.get("nonce"):
                links = "".join(
                    f"<a href='/agree?{escape(urlencode(query | {'person': name}))}'>{escape(name)}</a> "
                    for name in provider.people
                )
                self.answer(f"<h1>Who are you?</h1>{links}", "text/html")
            elif asked.path == "/agree":
                answer = urlencode({"code": provider.code(query), "state": query["state"]})
                self.send_response(302)
                self.send_header("Location", f"{query['redirect_uri']}?{answer}")
                self.end_headers()
            else:
                self.send_error(404)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
            known = self.headers.get("Authorization") == f"Basic {basic}"
            tokens = provider.tokens(form) if known and self.path == "/token" else None
            self.answer(json.dumps(tokens or {"error": "invalid_grant"}), status=200 if tokens else 400)

        def answer(self, body: str, kind: str = "application/json", status: int = 200) -> None:
            data = body.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
