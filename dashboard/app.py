"""The dashboard: `upright dashboard`. Pages over the store's reading side; nothing is simulated or judged here."""

from __future__ import annotations

import streamlit as st

from dashboard import case_page, look, matrix_page

PAGES = {"matrix": matrix_page.show, "case": case_page.show}


def main() -> None:
    st.set_page_config(page_title="Upright", page_icon="🧱", layout="wide")
    st.html(look.STYLE)
    page = st.query_params.get("page", "matrix")
    PAGES.get(page, matrix_page.show)()


main()
