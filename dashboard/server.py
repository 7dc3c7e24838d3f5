"""The dashboard's server: Streamlit's pages, and the playground's page with its own connection."""

from pathlib import Path

from streamlit.starlette import App

from dashboard.playground.routes import ROUTES

app = App(Path(__file__).with_name("app.py"), routes=ROUTES)
