"""upright dashboard"""

import importlib.util
import os
import sys
from pathlib import Path

import click

from validation.cli.arguments import database_option, without_password


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), default=8501, show_default=True)
@click.option("--address", default="127.0.0.1", show_default=True, help="Which interface it listens on.")
@click.option(
    "--accept-as",
    "who",
    default="",
    metavar="NAME",
    help="Let whoever reaches the page accept, reject and mark, in this name.  [default: it only reads]",
)
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@database_option
def command(port: int, address: str, who: str, no_browser: bool, database: str) -> None:
    """Open the dashboard on the stored results in a browser; Ctrl-C ends it.

    Only this machine can reach it, unless --address is given. It only reads, unless --accept-as gives a name.

    \b
    upright dashboard
    upright dashboard --accept-as R.
    upright dashboard --db results/upright.db --port 8600
    """
    from validation.cli.progress import Shown
    from validation.running.session import warm_kernels
    from validation.store import open_store

    with open_store(database):  # a database that cannot be opened is an error here, not on a web page
        pass
    found = importlib.util.find_spec("dashboard")
    if found is None or not found.submodule_search_locations:
        raise click.ClickException("the dashboard is not installed; install upright again")
    if importlib.util.find_spec("streamlit") is None:
        raise click.ClickException("the dashboard needs streamlit; run: pip install 'upright[dashboard]'")
    warm_kernels(Shown())  # gaps and energies are drawn beside every motion; nobody waits for that before a blank page
    app = Path(found.submodule_search_locations[0]) / "app.py"
    options = {
        "server.port": port,
        "server.address": address,
        "server.headless": str(no_browser).lower(),
        "server.showEmailPrompt": "false",
        "logger.hideWelcomeMessage": "true",  # and with it what Streamlit recommends to developers, over our page
        "browser.gatherUsageStats": "false",
        "client.toolbarMode": "minimal",
    }
    command_line = [sys.executable, "-P", "-m", "streamlit", "run", str(app)]
    command_line += [word for name, value in options.items() for word in (f"--{name}", str(value))]
    environment = os.environ | {"UPRIGHT_DB": database, "UPRIGHT_ACCEPT_AS": who}
    click.echo(f"dashboard of {without_password(database)} on http://{address}:{port}   (Ctrl-C ends it)", err=True)
    sys.stderr.flush()
    # In place of this process: who ends the command ends the server.
    os.execve(sys.executable, command_line, environment)
