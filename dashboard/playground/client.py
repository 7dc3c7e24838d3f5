"""The playground's page: one HTML text that loads nothing but its own connection."""

import html
import json
from functools import cache
from importlib.resources import files
from typing import Any

from scenarios.catalogue import FAMILIES
from validation.engines import present_engines
from validation.report import drawing
from validation.tools.playground.presets import PRESETS
from validation.tools.playground.setup import MOST_ENGINES, MOST_TEXT, packed

SCRIPTS = ("connection.js", "controls.js", "plots.js", "client.js")


def page(theme: str = "") -> str:
    """Light or dark as the reader's system is, unless `theme` is "light" or "dark"."""
    own = files("dashboard.playground")
    drawn = (drawing.script("vectors.js"), drawing.script())
    script = "\n".join([*drawn, *(own.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS)])
    text = own.joinpath("page.html").read_text(encoding="utf-8")
    # A "<" might end the script element; JSON may write it as its number.
    data = json.dumps(known()).replace("<", "\\u003c")
    text = text.replace("{{theme}}", html.escape(theme if theme in ("light", "dark") else ""))
    return text.replace("{{known}}", data).replace("{{script}}", script)


@cache
def known() -> dict[str, Any]:
    return {
        "presets": [
            {"name": one.name, "title": one.title, "text": one.text, "play": packed(one.setup)} for one in PRESETS
        ],
        "scenarios": {name: family.summary for name, family in FAMILIES.items()},
        "engines": list(present_engines()),
        "most": MOST_ENGINES,
        "longest": MOST_TEXT,
    }
