"""Runs the command as a user does: in this process where that will do, as a process of its own where it must be."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from validation import cli

AS_COMMAND = [sys.executable, "-P", "-c", "from validation.cli import main; main()"]


def start(words: Sequence[str], folder: Path, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*AS_COMMAND, *words],
        cwd=folder,
        env=os.environ | environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def upright(*words: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    process = start(words, folder, **environment)
    out, err = process.communicate(timeout=300)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit status, standard output and error of the command in this process; for what simulates nothing."""
    monkeypatch.setattr(sys, "argv", ["upright", *words])
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(SystemExit) as leaving:
        cli.main()
    out, err = capsys.readouterr()
    return int(leaving.value.code or 0), out, err
