"""The dashboard: `upright dashboard`. Pages over the store's reading side; nothing is simulated or judged here."""

import logging
from collections.abc import Callable

import streamlit as st

from dashboard import (
    baselines_page,
    case_page,
    compare_page,
    elements,
    engines_page,
    finds_page,
    inbox_page,
    playground_page,
    review_page,
    runs_page,
    sign_in,
)
from validation.store.errors import StoreError


def main() -> None:
    st.set_page_config(page_title="Upright", page_icon="🧱", layout="wide")
    pages = [
        st.Page(inbox_page.show, title="Inbox", url_path="inbox", default=True),
        st.Page(review_page.show, title="Review", url_path="review"),
        st.Page(case_page.show, title="Case", url_path="case"),
        st.Page(compare_page.show, title="Compare", url_path="compare"),
        st.Page(finds_page.show, title="Finds", url_path="finds"),
        st.Page(playground_page.show, title="Playground", url_path="playground"),
        st.Page(engines_page.show, title="Engines", url_path="engines"),
        st.Page(baselines_page.show, title="Baselines", url_path="baselines"),
        st.Page(runs_page.show, title="Runs", url_path="runs"),
    ]
    page = st.navigation(pages, position="top")
    st.html(elements.STYLE)
    elements.navigation({one.title: one.url_path for one in pages}, page.title)
    sign_in.gate()
    guarded(page.run)


def guarded(show: Callable[[], None]) -> None:
    """The database is not trusted: a value that no command writes ends the one page that shows it, in a sentence."""
    try:
        show()
    except StoreError as error:
        elements.heading("This page cannot be shown")
        elements.paragraph(elements.text(error), "alarm")
    except Exception as error:
        logging.getLogger("upright").exception("a page cannot be shown")
        elements.heading("This page cannot be shown")
        elements.paragraph(elements.text(f"{type(error).__name__}: {error}"), "alarm")
        elements.paragraph("A value in the database, or Upright, is wrong here. The server's log has the details.")


if __name__ == "__main__":
    main()
