"""upright dashboard, upright play"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
import urllib.request
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

import click

from validation.cli.arguments import complete_scenario, database_option, dt_option, engine_option, named

LOCAL = ("127.0.0.1", "localhost", "::1")
PATIENCE = 60.0  # s for the server to answer, before a browser is opened all the same

port_option = click.option("--port", type=click.IntRange(1, 65535), default=8501, show_default=True)
browser_option = click.option("--no-browser", is_flag=True, help="Do not open a browser.")
who_option = click.option(
    "--accept-as",
    "who",
    default="",
    metavar="NAME",
    help="Let whoever reaches the page accept, reject and mark, in this name.  [default: it only reads]",
)


@click.command()
@port_option
@click.option("--address", default="127.0.0.1", show_default=True, help="Which interface it listens on.")
@who_option
@click.option(
    "--play/--no-play",
    default=None,
    help="Let whoever reaches the page run simulations.  [default: where only this machine reaches it]",
)
@click.option(
    "--sign-in",
    "sign_in",
    envvar="UPRIGHT_SIGN_IN",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, resolve_path=True),
    help="Let in who signs in at the provider that FILE names; its reviewers may accept.  [docs/signing-in.md]",
)
@browser_option
@database_option
def command(
    port: int, address: str, who: str, play: bool | None, sign_in: str | None, no_browser: bool, database: str
) -> None:
    """Open the dashboard on the stored results in a browser; Ctrl-C ends it.

    Only this machine can reach it, unless --address is given. It only reads, unless --accept-as gives a name, or people
    sign in.

    \b
    upright dashboard
    upright dashboard --accept-as R.
    upright dashboard --sign-in sign-in.toml --address 0.0.0.0
    upright dashboard --db results/upright.db --port 8600
    """
    from validation.store import open_store

    if sign_in and who:
        raise click.UsageError("--accept-as and --sign-in: give one; who signs in decides in their own name")
    origin = _checked(sign_in) if sign_in else f"http://{address}:{port}"
    with open_store(database):  # a database that cannot be opened is an error here, not on a web page
        pass
    local = address in LOCAL and urlsplit(origin).hostname in LOCAL
    playing = ("local" if local else "public") if (local if play is None else play) else ""
    click.echo(f"dashboard of {named(database)} on {origin}   (Ctrl-C ends it)", err=True)
    if not local and not sign_in:
        may = f"read all results, and accept in the name of {who}" if who else "read all results"
        click.echo(f"Warning: whoever reaches {address}:{port} may {may}. --sign-in FILE asks who it is.", err=True)
    environment = {"UPRIGHT_DB": database, "UPRIGHT_ACCEPT_AS": who, "UPRIGHT_PLAY": playing}
    environment["UPRIGHT_SIGN_IN"] = sign_in or ""
    opened = f"{origin}/" if sign_in else f"http://{_reachable(address)}:{port}/"
    _serve(port, address, environment, "" if no_browser else opened)


@click.command()
@click.argument("scenario", metavar="[SCENARIO]", required=False, shell_complete=complete_scenario)
@engine_option
@dt_option
@port_option
@who_option
@browser_option
@database_option
def play(
    scenario: str | None,
    engines: tuple[str, ...],
    dt: float | None,
    port: int,
    who: str,
    no_browser: bool,
    database: str,
) -> None:
    """Play with a scenario in a browser: change it, run it on several engines side by side, pull at it.

    SCENARIO is a name with parameters, or a scene file. Up to four engines run together, each with its settings.
    Nothing is stored. Only this machine can reach the page; Ctrl-C ends it.

    \b
    upright play
    upright play stack:n=6 --engine reference --engine pymunk:iterations=2
    upright play my_scene.json --engine my_package.MyEngine
    """
    from validation.engines import engine_of
    from validation.tools.playground.setup import SetupError, packed, setup_of

    for word in engines:
        engine_of(word)
    try:
        address = f"?play={packed(setup_of(scenario, engines, dt))}" if scenario else ""
    except SetupError as error:
        raise click.UsageError(str(error)) from None
    url = f"http://127.0.0.1:{port}/playground{address}"
    click.echo(f"playground on {url}   (Ctrl-C ends it)", err=True)
    environment = {"UPRIGHT_DB": database, "UPRIGHT_ACCEPT_AS": who, "UPRIGHT_PLAY": "local"}
    environment["UPRIGHT_SIGN_IN"] = ""
    environment["UPRIGHT_PLAY_ENGINES"] = "\n".join(engine_of(word).word for word in engines)
    _serve(port, "127.0.0.1", environment, "" if no_browser else url)


def _checked(path: str) -> str:
    """The address that people sign in at. A sign-in file that cannot be used ends the command; one that lets in more
    than it seems to is warned of."""
    from validation.review.sign_in import SignInError, parse_sign_in

    if any(importlib.util.find_spec(name) is None for name in ("authlib", "httpx2")):
        raise click.ClickException("signing in needs authlib and httpx2; run: pip install 'upright[dashboard]'")
    try:
        settings = parse_sign_in(Path(path).read_text(encoding="utf-8"), os.environ)
    except OSError as error:
        raise click.ClickException(f"{path}: it cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise click.ClickException(f"{path}: it is no text in UTF-8") from None
    except SignInError as error:
        raise click.ClickException(f"{path}: {error}") from None
    origin = urlsplit(settings.origin)
    warnings = (
        (Path(path).stat().st_mode & 0o077, f"others on this machine can read its secrets; run: chmod 600 {path}"),
        (not settings.may_decide, "[reviewers] names nobody, so nobody may accept"),
        (
            origin.scheme == "http" and origin.hostname not in LOCAL,
            "auth.redirect_uri: http sends what proves who somebody is unencrypted; put a server with https in front",
        ),
    )
    for applies, warning in warnings:
        if applies:
            click.echo(f"Warning: {path}: {warning}", err=True)
    return settings.origin


def _serve(port: int, address: str, environment: dict[str, str], opened: str) -> None:
    """In place of this process: who ends the command ends the server."""
    from validation.cli.progress import Shown
    from validation.running.session import warm_kernels

    found = importlib.util.find_spec("dashboard")
    if found is None or not found.submodule_search_locations:
        raise click.ClickException("the dashboard is not installed; install upright again")
    if importlib.util.find_spec("streamlit") is None:
        raise click.ClickException("the dashboard needs streamlit; run: pip install 'upright[dashboard]'")
    warm_kernels(Shown())  # gaps and energies are drawn beside every motion; nobody waits for that before a blank page
    server = Path(found.submodule_search_locations[0]) / "server.py"
    options = {
        "server.port": port,
        "server.address": address,
        "server.headless": "true",  # it would open its first page, not the one that was asked for
        "server.showEmailPrompt": "false",
        "logger.hideWelcomeMessage": "true",  # and with it what Streamlit recommends to developers, over our page
        "browser.gatherUsageStats": "false",
        "client.toolbarMode": "minimal",
        # Who somebody is comes from the signed cookie alone, whatever a file of Streamlit's in this folder has.
        "server.trustedUserHeaders": "{}",
        "server.enableXsrfProtection": "true",
        "server.enableAgentApi": "false",
        # Streamlit's own is the red that alarms have here; the words on it have 4.5:1.
        "theme.light.primaryColor": "#1f6391",
        "theme.dark.primaryColor": "#6db3e8",
    }
    command_line = [sys.executable, "-P", "-m", "streamlit", "run", str(server)]
    command_line += [word for name, value in options.items() for word in (f"--{name}", str(value))]
    sys.stdout.flush()
    sys.stderr.flush()
    if opened and os.fork() == 0:
        _open_when_ready(opened, f"http://{_reachable(address)}:{port}/_stcore/health")
    os.execve(sys.executable, command_line, os.environ | environment)


def _reachable(address: str) -> str:
    """By which name this machine's browser gets there."""
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]", "::1": "[::1]"}.get(address, address)


def _open_when_ready(url: str, health: str) -> NoReturn:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with suppress(OSError):
            urllib.request.urlopen(health, timeout=2).close()
            break
        time.sleep(0.2)
    webbrowser.open(url)
    os._exit(0)
