"""docs/ellipsoids.md: its examples run and print what stands below them."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "docs" / "ellipsoids.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)


def test_every_example_says_what_it_prints():
    assert len(EXAMPLES) == PAGE.count("```python") == 5


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_prints_what_the_page_says(number, capsys):
    code, printed = EXAMPLES[number]
    exec(compile(code, f"ellipsoids.md[{number}]", "exec"), {})
    assert capsys.readouterr().out.replace("-0.0,", "0.0,") == printed
