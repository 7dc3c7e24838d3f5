"""The dashboard's server: Streamlit's pages, and the playground's page with its own connection."""

from importlib import import_module
from pathlib import Path
from threading import Timer

from starlette.middleware import Middleware
from streamlit.starlette import App

from dashboard import sign_in
from dashboard.playground.routes import ROUTES

AFTER = 3.0  # s: what draws charts takes 1 to 2 s to import, beside the first page and not in it

app = App(
    Path(__file__).with_name("app.py"),
    routes=ROUTES,
    secrets=sign_in.secrets(),
    middleware=[Middleware(sign_in.Gate)],
)
charts = Timer(AFTER, import_module, ["altair"])
charts.daemon = True
charts.start()
