"""docs/joints.md: its examples run and print what stands below them."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "docs" / "joints.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("number", range(PAGE.count("```python")))
def test_an_example_prints_what_the_page_says(number, capsys):
    code, printed = EXAMPLES[number]
    exec(compile(code, "joints.md", "exec"), {})
    assert capsys.readouterr().out == printed
