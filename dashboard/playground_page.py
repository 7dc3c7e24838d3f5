"""The playground: scenes to change, run and pull at. What it shows comes over its own connection, not from here."""

import streamlit as st

from dashboard import sign_in
from dashboard.elements import heading, paragraph, text
from dashboard.playground.routes import enabled


def show() -> None:
    heading("Playground")
    if not enabled():
        paragraph("It is off where the dashboard is open to others: visitors would run simulations on this machine.")
        paragraph(text("To turn it on, start the dashboard with --play."), "soft")
        return
    if sign_in.required() and not sign_in.visitor().name:
        paragraph("Sign in to play: visitors run simulations on this machine.")
        return
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    theme = getattr(st.context.theme, "type", None)
    src = f"{'/' + base if base else ''}/play/page{f'?theme={theme}' if theme else ''}"
    st.iframe(src, height=800, alt="the playground: controls, the scene on each engine, curves, measurements")
