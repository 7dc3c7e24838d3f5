"""docs/joints.md: its example runs and prints what stands below it."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[3] / "docs" / "joints.md").read_text(encoding="utf-8")


def test_the_example_prints_what_the_page_says(capsys):
    (found,) = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(found[0], "joints.md", "exec"), {})
    assert capsys.readouterr().out == found[1]
