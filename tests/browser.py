"""A headless browser for tests of pages, where one is installed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next((path for name in BROWSERS if (path := shutil.which(name))), None)
needs_browser = pytest.mark.skipif(BROWSER is None, reason=f"no browser found; looked for {', '.join(BROWSERS)}")


@contextmanager
def opened_browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    arguments = ["--disable-gpu", "--disable-background-networking", *(["--no-sandbox"] if os.getuid() == 0 else [])]
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=arguments)
        yield browser
        browser.close()
