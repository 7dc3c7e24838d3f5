"""Runs the command as a user does: in this process where that will do, as a process of its own where it must be."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

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
