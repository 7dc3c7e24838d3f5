"""Where cases run: `local`, or the address of a Dask scheduler."""

import importlib.util
import re
from urllib.parse import urlsplit

from validation.running.options import LOCAL, RunError

PORT = 8786  # Dask's own
SCHEMES = {"dask": "tcp", "tls": "tls"}
ALLOWED = f"allowed: {LOCAL}, dask://HOST:PORT or tls://HOST:PORT"


class ExecutorError(RunError):
    """A cluster that cannot be used, or is lost; one line."""


def address_of(executor: str) -> str:
    """As Dask has it: tcp://HOST:PORT or tls://HOST:PORT. Raises ExecutorError, also where Dask is not installed."""
    try:
        parts = urlsplit(executor)
        host, port, user = parts.hostname, parts.port, parts.username
    except ValueError as error:  # a port out of range, or half an IPv6 address
        raise ExecutorError(f"--executor: {executor!r}: {str(error).lower()}; {ALLOWED}") from None
    if parts.scheme not in SCHEMES or not host or not re.fullmatch(r"[\w.:-]+", host):
        raise ExecutorError(f"--executor: {executor!r} is not an address of a Dask scheduler; {ALLOWED}")
    if user is not None or parts.path.strip("/") or parts.query or parts.fragment:
        raise ExecutorError(f"--executor: {host} has more than a host and a port; {ALLOWED}")
    if importlib.util.find_spec("distributed") is None:
        raise ExecutorError("--executor: Dask is not installed; run: pip install 'upright[dask]'")
    shown = f"[{host}]" if ":" in host else host
    return f"{SCHEMES[parts.scheme]}://{shown}:{PORT if port is None else port}"
