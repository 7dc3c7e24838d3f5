"""Who may decide, by the sign-in file and the claims of an identity token."""

from __future__ import annotations

from typing import Any

import pytest

from validation.review.sign_in import NOBODY, SignIn, SignInError, parse_sign_in

SECRET, COOKIE = "of-the-client-4711", "0123456789-abcdefghijklmnopqrstuvwxyz"
NOW = 1_800_000_000.0
AUTH = f"""
[auth]
redirect_uri = "https://upright.example.org/oauth2callback"
client_id = "upright"
client_secret = "{SECRET}"
cookie_secret = "{COOKIE}"
server_metadata_url = "https://id.example.org/.well-known/openid-configuration"
"""
REVIEWERS = """
[reviewers]
emails = ["R@example.org"]
claims = { groups = ["upright-reviewers"], "realm_access.roles" = ["reviewer"], "https://example.org/role" = ["lead"] }
"""


def settings(text: str = AUTH + REVIEWERS, **environment: str) -> SignIn:
    return parse_sign_in(text, environment)


def claims(**given: Any) -> dict[str, Any]:
    known = {"is_logged_in": True, "aud": "upright", "sub": "1f3a", "iat": NOW - 60.0, "name": "M. Visitor"}
    return known | given


@pytest.mark.parametrize(
    ("given", "name", "may"),
    [
        ({}, "M. Visitor (1f3a)", False),
        ({"email": "r@example.org", "email_verified": True}, "M. Visitor <r@example.org>", True),
        ({"email": "r@EXAMPLE.org", "email_verified": True, "name": ""}, "r@EXAMPLE.org", True),
        ({"email": "r@example.org"}, "M. Visitor (1f3a)", False),
        ({"email": "r@example.org", "email_verified": False}, "M. Visitor (1f3a)", False),
        ({"email": "r@example.org", "email_verified": "true"}, "M. Visitor (1f3a)", False),
        ({"email": ["r@example.org"], "email_verified": True}, "M. Visitor (1f3a)", False),
        ({"email": "r@example.org.evil", "email_verified": True}, "M. Visitor <r@example.org.evil>", False),
        ({"groups": ["staff", "upright-reviewers"]}, "M. Visitor (1f3a)", True),
        ({"groups": "upright-reviewers"}, "M. Visitor (1f3a)", True),
        ({"groups": ["upright-reviewers2", "Upright-Reviewers", 7, None, ["upright-reviewers"]]}, None, False),
        ({"groups": {"upright-reviewers": True}}, None, False),
        ({"realm_access": {"roles": ["reviewer"]}}, None, True),
        ({"realm_access": ["roles"]}, None, False),
        ({"https://example.org/role": "lead"}, None, True),
        ({"name": "R. Reviewer <r@example.org>"}, "R. Reviewer r@example.org (1f3a)", False),
        ({"name": "a\u202eb\x00c\n d"}, "a b c d (1f3a)", False),
        ({"name": None, "preferred_username": "rr"}, "rr (1f3a)", False),
        ({"name": None}, "somebody (1f3a)", False),
    ],
)
def test_who_may_decide_and_in_which_name(given: dict[str, Any], name: str | None, may: bool) -> None:
    found = settings().visitor(claims(**given), NOW)
    assert (found.refusal == "") == may and found.name == (name or found.name) != ""
    assert may or found.refusal == f"You are signed in as {found.name}, who may read but not decide."


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"is_logged_in": False}, NOBODY),
        ({"is_logged_in": "yes"}, NOBODY),
        ({"aud": "another"}, "made for another application"),
        ({"aud": ["another"], "azp": "upright"}, "made for another application"),
        ({"aud": None}, "made for another application"),
        ({"sub": ""}, "made for another application"),
        ({"iat": NOW - 8.1 * 3600.0}, "Your sign-in is older than 8 hours. Sign in again."),
        ({"iat": None}, "older than 8 hours"),
        ({"iat": True}, "older than 8 hours"),
        ({"iat": "1800000000"}, "older than 8 hours"),
        ({"iat": float("nan")}, "older than 8 hours"),
        ({"iat": NOW * 1000}, "older than 8 hours"),
        ({"iat": 10**400}, "older than 8 hours"),
    ],
)
def test_who_is_not_signed_in_is_nobody_whatever_the_groups_are(given: dict[str, Any], why: str) -> None:
    found = settings().visitor(claims(groups=["upright-reviewers"], **given), NOW)
    assert found.name == "" and why in found.refusal


def test_where_no_reviewer_is_named_nobody_may_decide() -> None:
    found = settings(AUTH)
    assert not found.may_decide and found.visitor(claims(groups=[""], email=""), NOW).refusal
    assert settings().may_decide and not settings(AUTH + "[reviewers]\nclaims = {groups = []}").may_decide


def test_a_sign_in_may_last_shorter_and_an_audience_may_be_one_of_several() -> None:
    short = settings("hours = 0.5\n" + AUTH + REVIEWERS)
    groups = {"groups": ["upright-reviewers"], "aud": ["upright", "other"]}
    assert short.visitor(claims(iat=NOW - 1700.0, **groups), NOW).refusal == ""
    assert "older than 0.5 hours" in short.visitor(claims(iat=NOW - 1900.0, **groups), NOW).refusal


def test_secrets_may_be_in_the_environment_and_are_in_no_text_of_the_settings() -> None:
    without = "\n".join(line for line in AUTH.splitlines() if "secret" not in line)
    with pytest.raises(SignInError, match=r"auth.client_secret: it is missing; .*\$UPRIGHT_CLIENT_SECRET"):
        settings(without)
    found = settings(without, UPRIGHT_CLIENT_SECRET=SECRET, UPRIGHT_COOKIE_SECRET=COOKIE)
    assert found.secrets() == settings(AUTH).secrets() and found.secrets()["auth"]["client_secret"] == SECRET
    assert found.origin == "https://upright.example.org"
    for shown in (repr(found), str(found), found.model_dump_json()):
        assert SECRET not in shown and COOKIE not in shown


@pytest.mark.parametrize(
    ("line", "instead", "message"),
    [
        (f'"{COOKIE}"', '"short-secret"', "auth.cookie_secret: it is weak; at least 32 random characters are needed"),
        (f'"{COOKIE}"', f'"{"ab" * 30}"', "auth.cookie_secret: it is weak"),
        (f'"{COOKIE}"', "4711", "auth.cookie_secret: Input should be a valid string"),
        (f'"{SECRET}"', '""', "auth.client_secret: it is empty"),
        ('client_id = "upright"', "", "auth.client_id: Field required"),
        ("/oauth2callback", "/", "auth.redirect_uri: the address of this dashboard and /oauth2callback is needed"),
        ("https://upright", "javascript://upright", "auth.redirect_uri: the address"),
        ("https://id.", "http://id.", "auth.server_metadata_url: an address that begins with https:// is needed"),
        ("[auth]", "[auth]\nclient_secrets = 'x'", "auth.client_secrets: there is no such field"),
        ("[auth]", "reviewers = 'r'\n[auth]", "reviewers: Input should be"),
        ("[auth]", "hours = 0\n[auth]", "hours: Input should be greater than 0"),
        ("[auth]", "hours = nan\n[auth]", "hours: Input should be"),
        ("[auth]", "public = 'yes'\n[auth]", "public: Input should be a valid boolean"),
        ("[auth]", "[oauth]", "[auth]: it is missing"),
        ("[auth]", "[[auth]]", "[auth]: it is missing"),
        ("[auth]", "[auth", "it is no TOML: "),
    ],
)
def test_a_file_that_cannot_be_used_is_one_line_without_its_secrets(line: str, instead: str, message: str) -> None:
    assert line in AUTH
    with pytest.raises(SignInError) as refused:
        settings(AUTH.replace(line, instead))
    described = str(refused.value)
    assert message in described and "\n" not in described
    assert not any(secret in described for secret in (SECRET, COOKIE, "short-secret", "abab", "4711"))
