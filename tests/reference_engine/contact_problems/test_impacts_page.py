"""docs/impacts.md: its examples run and print what stands below them."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "docs" / "impacts.md").read_text(encoding="utf-8")


EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("code", "printed"), EXAMPLES)
def test_an_example_prints_what_the_page_says(code, printed, capsys):
    exec(compile(code, "impacts.md", "exec"), {})
    assert capsys.readouterr().out == printed


def test_every_example_of_the_page_is_run():
    assert len(EXAMPLES) == PAGE.count("```python") == 2
