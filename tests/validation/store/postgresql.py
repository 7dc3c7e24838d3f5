"""A PostgreSQL server of one's own, of the programs that are installed (Debian: apt install postgresql)."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOUND = [shutil.which("initdb") or "", *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")))]
INSTALLED = any(FOUND)
PROGRAMS = Path(next((path for path in reversed(FOUND) if path), "")).parent


class Server:
    """Has an administrator "postgres". It refuses to run as root: then it is another user's."""

    def __init__(self, folder: Path, *settings: str) -> None:
        self.folder, self.data = folder, folder / "data"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.user: list[str] = []
        if os.getuid() == 0:
            self.user = ["runuser", "-u", "postgres", "--"]
            shutil.chown(folder, "postgres")
        given = (f"port={self.port}", f"unix_socket_directories={folder}", "listen_addresses=127.0.0.1", *settings)
        self.options = " ".join(f"-c {setting}" for setting in given)
        self.run("initdb", "-D", str(self.data), "-A", "trust", "-U", "postgres")

    def run(self, program: str, *words: str) -> None:
        done = subprocess.run(
            [*self.user, str(PROGRAMS / program), *words], capture_output=True, text=True, cwd=self.folder
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        log = str(self.folder / "log")
        self.run("pg_ctl", "-D", str(self.data), "-o", self.options, "-l", log, "-w", "start")

    def stop(self, mode: str = "immediate") -> None:
        """Immediate: as if it were killed, but for its processes, which end; what was committed is recovered."""
        self.run("pg_ctl", "-D", str(self.data), "-m", mode, "stop")

    def psql(self, commands: str, database: str = "postgres") -> str:
        words = [str(PROGRAMS / "psql"), "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-d", database]
        words += ["-v", "ON_ERROR_STOP=1", "-qAt"]
        return subprocess.run(words, input=commands, check=True, capture_output=True, text=True).stdout

    def url(self, database: str, role: str = "postgres") -> str:
        return f"postgresql://{role}@127.0.0.1:{self.port}/{database}"


@contextmanager
def own_server(*settings: str) -> Iterator[Server]:
    """Running; with settings as in postgresql.conf. It and its folder are gone afterwards."""
    folder = Path(tempfile.mkdtemp())  # not below pytest's, which no other user may enter
    server = Server(folder, *settings)
    server.start()
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)
