"""The containers of ci/compose.yaml as processes of this machine, by the very commands of the file."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.browser import needs_browser, opened_browser
from tests.dashboard.test_dashboard import settled, wait_for
from tests.validation.cluster import free_port
from tests.validation.store.postgresql import INSTALLED, PROGRAMS, Server
from validation.cli import COMMANDS
from validation.store import open_store

ROOT = Path(__file__).parents[2]
FILE: dict[str, Any] = yaml.safe_load((ROOT / "ci/compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = FILE["services"]
CASES = ("stack:n=3", "bouncing-ball", "--engine", "pymunk", "--engine", "box2d")
LIMIT = 120.0  # s


def test_each_service_is_whole() -> None:
    """It says what it runs, comes back when it ends, and is reached from this machine only."""
    for name, service in SERVICES.items():
        assert service["command"] and service["image"], name
        assert service["restart"] == ("no" if name == "upright" else "unless-stopped"), name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), name
        assert set(service.get("depends_on", ())) <= SERVICES.keys(), name
        mounted = {volume.partition(":")[0] for volume in service.get("volumes", ())}
        assert mounted <= FILE["volumes"].keys(), name
    assert SERVICES["upright"]["command"][0] in COMMANDS and SERVICES["dashboard"]["command"][1] in COMMANDS


def test_the_image_has_what_it_copies_and_installs() -> None:
    text = (ROOT / "ci/Dockerfile").read_text(encoding="utf-8")
    assert "constraints.txt" in text and "/upright[all]" in text
    allowed = (ROOT / "ci/Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    assert all((ROOT / name.removeprefix("!")).exists() for name in allowed if name.startswith("!"))
    packaged = {
        "reference_engine",
        "scenarios",
        "validation",
        "dashboard",
        "upright",
        "pyproject.toml",
        "constraints.txt",
    }
    assert packaged <= {name.removeprefix("!") for name in allowed}
    assert SERVICES["workers"]["build"] == {"context": "..", "dockerfile": "ci/Dockerfile"}


class Containers:
    """What Docker does with the file: names become addresses, variables values, and what ends is left to the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ports = {"8786": free_port(), "8501": free_port()}
        self.given = {"UPRIGHT_DB_PASSWORD": "of-a-test", "UPRIGHT_WORKERS": "2"}
        self.database = Server(Path(tempfile.mkdtemp()))
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def text(self, written: str) -> str:
        """In the network of the file: `//scheduler:8786` is an address of this machine, and so on."""
        text = re.sub(r"\$\{(\w+)[:?-][^}]*\}", lambda found: self.given[found[1]], written)
        text = re.sub(r"(//|@)(scheduler|database|dashboard)\b", r"\g<1>127.0.0.1", text).replace(
            "0.0.0.0", "127.0.0.1"
        )
        for port, ours in self.ports.items():
            text = re.sub(rf"\b{port}\b", str(ours), text)
        return text

    def words(self, service: str) -> list[str]:
        return [self.text(word) for word in (*SERVICES[service].get("entrypoint", ()), *SERVICES[service]["command"])]

    def environment(self, service: str) -> dict[str, str]:
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        own = {name: self.text(value) for name, value in SERVICES[service].get("environment", {}).items()}
        return {**os.environ, "PATH": path, "PGPORT": str(self.database.port), **own}

    def start(self, service: str) -> None:
        with (self.folder / f"{service}.log").open("wb") as log:
            self.running[service] = subprocess.Popen(
                self.words(service), cwd=self.folder, env=self.environment(service), stdout=log, stderr=log
            )

    def start_database(self) -> None:
        """As the image does at its first start: a role with a password, which owns a database."""
        own, wanted = self.database, SERVICES["database"]["environment"]
        program, *words = self.words("database")
        assert program == "postgres"
        settings = (f"port={own.port}", f"unix_socket_directories={own.folder}", "listen_addresses=127.0.0.1")
        words += ["-D", str(own.data), *(word for setting in settings for word in ("-c", setting))]
        user = "postgres" if os.getuid() == 0 else None
        log = (self.folder / "database.log").open("wb")
        self.running["database"] = subprocess.Popen(
            [str(PROGRAMS / program), *words], cwd=own.folder, user=user, stdout=log, stderr=log
        )
        test = SERVICES["database"]["healthcheck"]["test"]
        ready = [str(PROGRAMS / test[1]), *test[2:], "--host", "127.0.0.1", "--port", str(own.port)]
        wait_until(lambda: subprocess.run(ready, capture_output=True).returncode == 0, "the database is not ready")
        role, password = wanted["POSTGRES_USER"], self.text(wanted["POSTGRES_PASSWORD"])
        own.psql(f"CREATE ROLE {role} LOGIN PASSWORD '{password}'")
        own.psql(f"CREATE DATABASE {wanted['POSTGRES_DB']} OWNER {role}")
        access = own.data / "pg_hba.conf"
        access.write_text(f"host all {role} 127.0.0.1/32 scram-sha-256\nhost all postgres 127.0.0.1/32 trust\n")
        own.psql("SELECT pg_reload_conf()")

    def upright(self, *words: str) -> subprocess.CompletedProcess[str]:
        """docker compose run --rm upright WORDS"""
        command = [*SERVICES["upright"]["entrypoint"], *words]
        return subprocess.run(
            command, cwd=self.folder, env=self.environment("upright"), capture_output=True, text=True, timeout=600
        )

    def end(self) -> None:
        for process in reversed(self.running.values()):
            process.terminate()
        for process in self.running.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()
            process.wait()
        shutil.rmtree(self.database.folder)


def wait_until(condition: Any, otherwise: str) -> None:
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.2)


@pytest.fixture
def containers(tmp_path: Path) -> Iterator[Containers]:
    pytest.importorskip("distributed")
    made = Containers(tmp_path)
    try:
        made.start_database()
        for service in ("scheduler", "workers", "dashboard"):
            made.start(service)
        yield made
    finally:
        made.end()


def motions(database: str) -> Sequence[tuple[str, str, str]]:
    with open_store(database) as store:
        return sorted((r.case.label, r.case.engine_label, r.trajectory_hash) for r in store.results(1))


@pytest.mark.slow
@needs_browser
@pytest.mark.skipif(not INSTALLED, reason="no PostgreSQL server is installed (Debian: apt install postgresql)")
def test_a_suite_runs_on_the_workers_into_the_database_and_is_on_the_dashboard(
    containers: Containers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = containers.upright("run", *CASES, "--fresh")
    assert done.returncode == 0, done.stderr
    accepted = containers.upright("accept", "--reason", "first look")
    assert accepted.returncode == 0, accepted.stderr
    checked = containers.upright(*SERVICES["upright"]["command"], *CASES, "--fresh")
    assert checked.returncode == 0 and "4 unchanged" in checked.stdout, checked.stderr
    here = containers.upright("run", *CASES, "--fresh", "--db", "here.db", "--executor", "local")
    assert here.returncode == 0, here.stderr
    environment = containers.environment("upright")
    for name in ("PGPORT", "PGPASSWORD"):
        monkeypatch.setenv(name, environment[name])
    assert motions(environment["UPRIGHT_DB"]) == motions(str(tmp_path / "here.db")) != []

    address = f"http://127.0.0.1:{containers.ports['8501']}"
    wait_for(address)
    with opened_browser() as browser:
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.set_default_timeout(60_000)
        page.goto(address)
        settled(page)
        assert page.inner_text("h1.page") == "4 unchanged"
        page.goto(f"{address}/runs")
        settled(page)
        assert "\n2\t" in page.inner_text("[data-testid=stMain]")  # the check, in the table
