"""Addresses of databases without the passwords in them, for screens, logs and records."""

import re
from urllib.parse import unquote_plus

SECRET = re.compile("pass(?!file)|pwd|secret|token|credential|odbc_connect", re.IGNORECASE)
HIDDEN = "***"


def without_password(text: str) -> str:
    """A word of a command line; one that is typed again needs its password again.

    A password may itself have an @, so all up to the last one is hidden.
    """
    text = re.sub(r"(://[^:/?#]*):.*@", rf"\1:{HIDDEN}@", text)
    return re.sub(r"([?&;])([^?&;=]+)=([^&;]*)", _hidden, text) if "://" in text else text


def _hidden(parameter: re.Match[str]) -> str:
    start, name, value = parameter.groups()
    return f"{start}{name}={HIDDEN if SECRET.search(unquote_plus(name)) else value}"
