"""Who may decide where people sign in: the sign-in file of `upright dashboard`, and what it makes of an identity token.

The provider (OpenID Connect Core 1.0) vouches for the claims; they come here checked against its keys, its issuer and
the nonce. Pure: a text and claims in, a visitor out.
"""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

CALLBACK = "/oauth2callback"
LOCAL = ("127.0.0.1", "localhost", "::1")
LEAST_SECRET = 32  # characters that sign cookies
LEAST_DISTINCT = 10
MOST_NAME = 80  # characters
LEEWAY = 300.0  # s by which the provider's clock may be ahead
RANDOM = "python -c 'import secrets; print(secrets.token_urlsafe(32))'"
OF_ENVIRONMENT = {"client_secret": "UPRIGHT_CLIENT_SECRET", "cookie_secret": "UPRIGHT_COOKIE_SECRET"}
NOBODY = "Nobody is signed in on this page."
Text = Annotated[str, Field(min_length=1)]


class SignInError(ValueError):
    """A sign-in file that cannot be used, in one line without its secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """Who is at a page, and whether they may decide."""

    name: str = ""  # for the ledger; "" where nobody is signed in
    refusal: str = ""  # why they may not decide, in words; "" where they may


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)


class Provider(_Section):
    """Section [auth], as Streamlit takes it."""

    redirect_uri: Text
    client_id: Text
    client_secret: SecretStr
    cookie_secret: SecretStr
    server_metadata_url: Text
    client_kwargs: dict[str, str] = {}

    @field_validator("redirect_uri")
    @classmethod
    def _is_ours(cls, address: str) -> str:
        known = urlsplit(address)
        if known.scheme not in ("http", "https") or not known.hostname or not known.path.endswith(CALLBACK):
            raise ValueError(f"the address of this dashboard and {CALLBACK} is needed")
        return address

    @field_validator("server_metadata_url")
    @classmethod
    def _is_safe(cls, address: str) -> str:
        known = urlsplit(address)
        if known.scheme != "https" and not (known.scheme == "http" and known.hostname in LOCAL):
            raise ValueError("an address that begins with https:// is needed, for the provider's keys come from there")
        return address

    @field_validator("client_secret")
    @classmethod
    def _is_given(cls, secret: SecretStr) -> SecretStr:
        if not secret.get_secret_value():
            raise ValueError("it is empty; give the secret that the provider shows for this client")
        return secret

    @field_validator("cookie_secret")
    @classmethod
    def _is_strong(cls, secret: SecretStr) -> SecretStr:
        value = secret.get_secret_value()
        if len(value) < LEAST_SECRET or len(set(value)) < LEAST_DISTINCT:
            raise ValueError(f"it is weak; at least {LEAST_SECRET} random characters are needed: {RANDOM}")
        return secret


class Reviewers(_Section):
    """Section [reviewers]: any of these makes a reviewer."""

    emails: list[Text] = []  # that the provider has verified
    claims: dict[str, list[Text]] = {}  # claim, nested ones with dots -> values


class SignIn(_Section):
    """A sign-in file."""

    public: bool = False  # whether those who are not signed in may read
    hours: Annotated[float, Field(gt=0.0, le=720.0, strict=False)] = 8.0  # h that a sign-in lasts
    auth: Provider
    reviewers: Reviewers = Reviewers()

    @property
    def origin(self) -> str:
        """Of the dashboard, as browsers have it: https://upright.example.org"""
        known = urlsplit(self.auth.redirect_uri)
        return f"{known.scheme}://{known.netloc}"

    @property
    def may_decide(self) -> bool:
        """Whether there is anybody who may."""
        return bool(self.reviewers.emails or any(self.reviewers.claims.values()))

    def secrets(self) -> dict[str, Any]:
        """For Streamlit, which signs people in."""
        plain = {name: getattr(self.auth, name).get_secret_value() for name in OF_ENVIRONMENT}
        return {"auth": self.auth.model_dump(exclude=set(OF_ENVIRONMENT)) | plain}

    def visitor(self, claims: Mapping[str, Any], now: float) -> Visitor:
        """`claims` are of a checked identity token, with `is_logged_in`; `now` in seconds since 1970."""
        if claims.get("is_logged_in") is not True:
            return Visitor(refusal=NOBODY)
        audience, since, subject = claims.get("aud"), claims.get("iat"), claims.get("sub")
        if self.auth.client_id not in (audience if isinstance(audience, list) else [audience]) or not subject:
            return Visitor(refusal="This sign-in was made for another application. Sign in here.")
        known = since if isinstance(since, int | float) and not isinstance(since, bool) else -math.inf
        if not now - 3600.0 * self.hours <= known <= now + LEEWAY:
            return Visitor(refusal=f"Your sign-in is older than {self.hours:g} hours. Sign in again.")
        name = named(claims)
        if self._is_reviewer(claims):
            return Visitor(name=name)
        return Visitor(name=name, refusal=f"You are signed in as {name}, who may read but not decide.")

    def _is_reviewer(self, claims: Mapping[str, Any]) -> bool:
        email = verified_email(claims)
        if email and email.casefold() in {one.casefold() for one in self.reviewers.emails}:
            return True
        return any(set(values) & values_of(claims, claim) for claim, values in self.reviewers.claims.items())


def parse_sign_in(text: str, environment: Mapping[str, str]) -> SignIn:
    """Secrets that the file lacks are taken from the environment. Raises SignInError."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SignInError(f"it is no TOML: {error}") from None
    auth = data.get("auth")
    if not isinstance(auth, dict):
        raise SignInError("[auth]: it is missing; it has the provider and the secrets (docs/signing-in.md)")
    given = {name: environment[variable] for name, variable in OF_ENVIRONMENT.items() if environment.get(variable)}
    try:
        return SignIn.model_validate(data | {"auth": given | auth})
    except ValidationError as error:
        raise SignInError(_explain(error)) from None


def _explain(error: ValidationError) -> str:
    """The first thing that is wrong, without the value: it may be a secret."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    field = ".".join(map(str, first["loc"]))
    if first["type"] == "missing" and first["loc"][-1] in OF_ENVIRONMENT:
        return f"{field}: it is missing; write it there, or set ${OF_ENVIRONMENT[str(first['loc'][-1])]}"
    if first["type"] == "extra_forbidden":
        return f"{field}: there is no such field (docs/signing-in.md has them all)"
    return f"{field}: {first['msg'].removeprefix('Value error, ')}"


def verified_email(claims: Mapping[str, Any]) -> str:
    """That the provider has checked; "" where it has not, for then anybody may have typed it."""
    email = claims.get("email")
    return email if isinstance(email, str) and claims.get("email_verified") is True else ""


def values_of(claims: Mapping[str, Any], claim: str) -> set[str]:
    """Of a claim that is a text or a list of them; of a nested one where its name has dots and none is called so."""
    found: Any = claims.get(claim)
    if found is None and "." in claim:
        found = claims
        for name in claim.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
    every = found if isinstance(found, list) else [found]
    return {value for value in every if isinstance(value, str)}


def named(claims: Mapping[str, Any]) -> str:
    """Name and verified e-mail, or the provider's identifier: a name alone is what anybody may call themselves."""
    email = verified_email(claims)
    known = next((str(claims[name]) for name in ("name", "preferred_username") if claims.get(name)), "")
    shown = " ".join("".join(c if c.isprintable() and c not in "<>()" else " " for c in known).split())[:MOST_NAME]
    if email:
        return f"{shown} <{email}>" if shown else email
    return f"{shown or 'somebody'} ({claims['sub']})"
