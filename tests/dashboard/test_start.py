"""`upright dashboard` starts the server without questions and advertisements, readable by this machine alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from validation.cli import dashboard


def test_a_newcomer_is_asked_nothing_and_sees_the_page_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(os, "execve", lambda program, words, environment: started.append(words))
    monkeypatch.setattr("validation.running.session.warm_kernels", lambda progress: None)
    done = CliRunner().invoke(dashboard.command, ["--db", str(tmp_path / "upright.db")])
    assert done.exit_code == 0 and "http://127.0.0.1:8501" in done.stderr
    (words,) = started
    options = dict(zip(words[6::2], words[7::2]))
    assert options["--server.showEmailPrompt"] == "false" and options["--logger.hideWelcomeMessage"] == "true"
    assert options["--server.address"] == "127.0.0.1" and options["--browser.gatherUsageStats"] == "false"
