"""Upright in a user's own tests: our scenarios as their parametrised tests.

    def test_physics(upright_case):
        upright_case.check()

    pytest --upright-engine my_package.MyEngine

It runs inside the user's pytest, where `validation` or `scenarios` may be the user's own. So everything is done in a
process of its own (`asking.py`), once for all tests of a session.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from upright.asking import DATABASE, UprightError, ask
from upright.results import Case

NO_ENGINE = "no engine to test: give --upright-engine NAME, or upright_engine in the ini file"


class Wanted(NamedTuple):
    scenario: str
    engine: str


class TestedCase(Case):
    """One that a test asks for."""

    __test__ = False  # it is no test itself

    def check(self) -> None:
        """Fails the test if the case got worse than what is accepted, or breaks a law that nobody has accepted."""
        __tracebackhide__ = True
        if self.fails:
            motions = [f"  motion: {file}" for file in self.files]
            right = f"  or say why it is right: pytest -k '{self.scenario}' --upright-accept \"...\""
            pytest.fail("\n".join([self.told, *motions, f"  again: {self.again}", right]), pytrace=False)


@dataclass(kw_only=True)
class Client:
    """The cases of a session: run at once, then looked up."""

    root: Path
    database: str
    profile: str | None
    reports: Path
    accept: str | None
    error: str = ""
    summary: str = ""
    number: int = 0
    _cases: dict[Wanted, TestedCase] = field(default_factory=dict)
    _canonical: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.database = self.database or DATABASE

    def canonical(self) -> list[str]:
        """Labels of the canonical suite. Raises UprightError."""
        if not self._canonical:
            self._canonical = ask({"do": "scenarios"}, folder=self.root)["scenarios"]
        return self._canonical

    def run(self, wanted: Sequence[Wanted], answer: Path) -> None:
        """All of them, unless another worker has: `answer` is what they share. An error is kept in `error`."""
        request = {
            "do": "test",
            "scenarios": list(dict.fromkeys(one.scenario for one in wanted)),
            "engines": list(dict.fromkeys(one.engine for one in wanted)),
            "profile": self.profile,
            "database": self.database,
            "reports": str(self.reports),
            "accept": self.accept,
        }
        with answer.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if answer.exists():
                found = json.loads(answer.read_text(encoding="utf-8"))
            else:
                try:
                    found = ask(request, folder=self.root)
                except UprightError as error:
                    found = {"error": str(error)}
                answer.write_text(json.dumps(found), encoding="utf-8")
        self.error = found.get("error", "")
        if not self.error:
            self.summary, self.number = found["summary"], found["run"]
            cases = [TestedCase(**row) for row in found["cases"]]
            self._cases = {
                Wanted(scenario, engine): replace(cases[i], scenario=scenario, engine=engine)
                for scenario, engine, i in found["cells"]
            }

    def case(self, wanted: Wanted) -> TestedCase:
        return self._cases[wanted]


SESSION = pytest.StashKey[Client]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("upright", "physics engines (Upright)")
    group.addoption(
        "--upright-engine",
        action="append",
        metavar="NAME",
        help="engine to test: my_package.MyEngine, ./executable or a name; as often as wanted",
    )
    group.addoption(
        "--upright-scenario",
        action="append",
        metavar="NAME",
        help="scenario to run, such as stack:n=5 or my_scene.json; as often as wanted  [the canonical suite]",
    )
    group.addoption(
        "--upright-accept",
        metavar="REASON",
        help="accept what is measured as the baseline of the tests to come, and say why",
    )
    group.addoption("--upright-db", metavar="URL", help="results and baselines  [upright.db in the root folder]")
    group.addoption("--upright-reports", metavar="FOLDER", help="motion of what fails  [beside the JUnit report]")
    parser.addini("upright_engine", "engines to test, one a line", type="linelist")
    parser.addini("upright_scenarios", "scenarios to run, one a line; without it the canonical suite", type="linelist")
    parser.addini("upright_profile", "settings to run with: default or fair", default="")
    parser.addini("upright_db", "results and baselines: a file or a SQLAlchemy URL", default="")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "upright(*scenarios): run this test for these scenarios and no others")
    reason = config.getoption("upright_accept")
    if reason is not None and not reason.strip():
        raise pytest.UsageError("--upright-accept: '' is empty; say why these measurements are right")
    config.stash[SESSION] = Client(
        root=config.rootpath,
        database=config.getoption("upright_db") or os.environ.get("UPRIGHT_DB") or config.getini("upright_db"),
        profile=config.getini("upright_profile") or None,
        reports=_reports(config),
        accept=reason,
    )


def _reports(config: pytest.Config) -> Path:
    """As asked for, or beside the JUnit report, or a folder in the root."""
    given, junit = config.getoption("upright_reports"), config.getoption("xmlpath", None)
    if given:
        return Path(config.invocation_params.dir, given)
    return Path(config.invocation_params.dir, junit).parent if junit else config.rootpath / "upright-reports"


# --- which tests --------------------------------------------------------------------------------------------------


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "upright_case" not in metafunc.fixturenames:
        return
    config = metafunc.config
    typed = config.getoption("upright_engine")
    engines = [at_root(word, config) for word in typed] if typed else config.getini("upright_engine")
    if not engines:
        cells = [pytest.param(None, id="no-engine", marks=pytest.mark.skip(reason=NO_ENGINE))]
    else:
        cells = [
            pytest.param(Wanted(word, engine), id=word if len(engines) == 1 else f"{word}-{engine}")
            for word in _scenarios(metafunc)
            for engine in engines
        ]
    metafunc.parametrize("upright_case", cells, indirect=True)


def _scenarios(metafunc: pytest.Metafunc) -> list[str]:
    """Of the test's marker; else of the command line; else of the ini file; else all."""
    config = metafunc.config
    marked = [word for marker in metafunc.definition.iter_markers("upright") for word in marker.args]
    typed = [at_root(word, config) for word in config.getoption("upright_scenario") or ()]
    words = marked or typed or config.getini("upright_scenarios")
    if words:
        return list(dict.fromkeys(words))
    try:
        return config.stash[SESSION].canonical()
    except UprightError as error:
        raise pytest.UsageError(f"upright: {error}") from None


def at_root(word: str, config: pytest.Config) -> str:
    """A path that was typed in another folder than the root, as it is from the root."""
    end = min((i for i in map(word.find, "=@:") if i >= 0), default=len(word))
    path, rest = word[:end], word[end:]
    is_path = "/" in path or path.endswith(".json")  # else it is a name
    if not is_path or config.invocation_params.dir == config.rootpath:
        return word
    moved = os.path.relpath(Path(config.invocation_params.dir, path), config.rootpath)
    return os.path.join(os.curdir, moved) + rest  # noqa: PTH118  "./" is what makes it a path


# --- running them ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def _upright_ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Every scenario that this session's tests want has run; under xdist one worker runs them for all."""
    client = request.config.stash[SESSION]
    parameters = [getattr(getattr(item, "callspec", None), "params", {}) for item in request.session.items]
    wanted = [given["upright_case"] for given in parameters if given.get("upright_case") is not None]
    temporary = tmp_path_factory.getbasetemp()
    shared = temporary.parent if hasattr(request.config, "workerinput") else temporary
    plugins = request.config.pluginmanager
    capture, terminal = plugins.getplugin("capturemanager"), plugins.getplugin("terminalreporter")
    with capture.global_and_fixture_disabled():  # kernels may have to be compiled: its progress is to be seen
        if terminal is not None:  # an xdist worker has none
            terminal.ensure_newline()
        client.run(wanted, shared / "upright-answer.json")
    yield client


@pytest.fixture
def upright_case(request: pytest.FixtureRequest, _upright_ran: Client) -> TestedCase:
    """One scenario on one engine, run and judged; `check()` fails the test with the verdict's sentence."""
    client = _upright_ran
    if client.error:
        pytest.fail(f"upright: {client.error}", pytrace=False)
    case = client.case(request.param)
    for name, value in (("upright_verdict", case.verdict), *(("upright_motion", file) for file in case.files)):
        request.node.user_properties.append((name, value))
    if case.outcome == "declined" and not case.fails:
        pytest.skip(case.told)
    return case


def pytest_sessionfinish(session: pytest.Session) -> None:
    client = session.config.stash.get(SESSION, None)
    if client is not None and client.summary and hasattr(session.config, "workeroutput"):
        session.config.workeroutput["upright"] = [client.summary, client.number]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Of xdist: what a worker has run, the process that reports prints."""
    client, told = node.config.stash.get(SESSION, None), getattr(node, "workeroutput", {}).get("upright")
    if client is not None and told:
        client.summary, client.number = told


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    client = config.stash.get(SESSION, None)
    if client is None or not client.summary:
        return
    accepted = f"; accepted: {client.accept}" if client.accept is not None else ""
    terminalreporter.write_line(f"Upright: {client.summary} (run {client.number} in {client.database}){accepted}")
