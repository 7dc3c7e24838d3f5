"""The site: `make docs` builds it into build/site, and every warning is an error (a link that leads nowhere, say)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike
from sphinx.util.typing import stringify_annotation

import reference_engine
from reference_engine import array_types

project = "Upright"
html_title = "Upright"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["attrs_inline"]
myst_heading_anchors = 4
myst_linkify_fuzzy_links = False
suppress_warnings = ["myst.header"]  # a page of the repository may begin its parts where it likes
exclude_patterns = ["conf.py"]
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
COPIED = {"index": "README.md", "contributing": "CONTRIBUTING.md", "changes": "CHANGELOG.md"}
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 100
add_module_names = False
TYPES = {"ArrayLike": ArrayLike, "Array": array_types.Array, "Indices": array_types.Indices, "Flags": array_types.Flags}


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", plain_text_to_rst)
    app.connect("autodoc-process-signature", named_types)
    app.connect("source-read", generated_text)


def named_types(
    app: Any, what: str, name: str, obj: Any, options: Any, given: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """The types of arrays by their names in the code, which autodoc writes out in full."""
    for alias, value in TYPES.items():
        for mode in ("smart", "fully-qualified-except-typing"):
            full = stringify_annotation(value, mode)
            given, returned = (text and text.replace(full, alias) for text in (given, returned))
    return given, returned


def plain_text_to_rst(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Our docstrings are plain text with `code` and indented blocks; autodoc reads reStructuredText."""
    out: list[str] = []
    for paragraph in re.split(r"\n\s*\n", "\n".join(lines)):
        block = paragraph.split("\n")
        if block[0].startswith(" "):
            out += ["::", "", *("    " + line for line in block), ""]
        else:
            escaped = re.sub(r"([*|_\\])", r"\\\1", paragraph)
            code = re.sub(r"`([^`]+)`", lambda m: "``" + re.sub(r"\\([*|_\\])", r"\1", m[1]) + "``", escaped)
            out += [line.strip() if i else line for i, line in enumerate(code.split("\n"))] + [""]
    lines[:] = out


def generated_text(app: Any, page: str, content: list[str]) -> None:
    """README.md, CONTRIBUTING.md and CHANGELOG.md are pages, and `api` lists what `reference_engine` exports."""
    if page in COPIED:
        content[0] = as_page((Path(app.srcdir).parent / COPIED[page]).read_text(encoding="utf-8")) + content[0]
    if page == "api":
        content[0] += "".join(api_entry(name) for name in reference_engine.__all__)


def as_page(text: str) -> str:
    """Its links as they lead from within docs/."""
    for page, source in COPIED.items():
        text = text.replace(f"]({source})", f"]({page}.md)")
    return re.sub(r"(\]\(|src=\")docs/", r"\1", text)


def api_entry(name: str) -> str:
    value = getattr(reference_engine, name)
    kind = "autoexception" if isinstance(value, type) and issubclass(value, Exception) else "autoclass"
    directive = kind if isinstance(value, type) else "autofunction"
    return f"\n## {name}\n\n```{{eval-rst}}\n.. {directive}:: {value.__module__}.{name}\n```\n"
