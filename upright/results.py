"""What the library hands back: cases, comparisons and motions, as tables and arrays."""

from __future__ import annotations

import html
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from upright.asking import ask

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FRAME_HEIGHT = 900  # pixels of the player in a notebook


def table(rows: Sequence[Mapping[str, Any]]) -> Any:
    """A pandas DataFrame; without pandas the rows themselves, a list of dicts."""
    try:
        import pandas
    except ImportError:
        return [dict(row) for row in rows]
    return pandas.DataFrame(rows)


def _table_html(rows: Sequence[Mapping[str, Any]], text: str) -> str:
    shown = table(rows)
    return f"<pre>{html.escape(text)}</pre>" if isinstance(shown, list) else str(shown.to_html(max_rows=60))


@dataclass(frozen=True, kw_only=True)
class Case:
    """What became of one scenario on one engine. Metrics are in SI units; None where a value is not finite."""

    scenario: str  # as it was asked for, else with its parameters: stack:n=3
    engine: str  # as it was asked for, else without its profile: pymunk:iterations=5
    outcome: str  # completed, declined, crashed, timed_out, out_of_memory, not_finite, adapter_failed
    verdict: str  # pass, improved, different, mixed, regressed, defect, broken, missing, new, declined, not compared
    reason: str  # the verdict's sentence
    told: str  # scenario, engine, verdict and sentence in one line
    fails: bool
    accepted: bool  # just now
    metrics: Mapping[str, float | None]
    files: Sequence[str] = ()  # pytest: the motion of a case that fails, to look at
    again: str  # the command that repeats it
    units: Mapping[str, str]  # of the metrics; "1" for a plain number
    profile: str
    dt: float  # s
    engine_version: str
    database: str  # in which it is stored,
    run: int  # as one of this run,
    number: int  # with this number

    def motion(self) -> Motion:
        """As it is stored. Raises UprightError where none is."""
        return ask_motion({"do": "motion", "database": self.database, "run": self.run, "number": self.number})

    def row(self) -> dict[str, Any]:
        """A row of a table: what was run, what became of it, and a column for each metric."""
        names = ("scenario", "engine", "profile", "engine_version", "dt", "outcome", "verdict", "fails", "reason")
        return {name: getattr(self, name) for name in names} | dict(self.metrics)


@dataclass(frozen=True, kw_only=True)
class Results(Sequence[Case]):
    """The cases of a run; `print` shows the table of `upright run`."""

    cases: Sequence[Case]
    run: int
    database: str
    summary: str  # 2 regressions, 211 unchanged
    text: str

    @property
    def failures(self) -> list[Case]:
        return [case for case in self.cases if case.fails]

    def table(self) -> Any:
        """A row a case, a column a metric: a pandas DataFrame, without pandas a list of dicts."""
        return table([case.row() for case in self.cases])

    def __len__(self) -> int:
        return len(self.cases)

    def __getitem__(self, index: Any) -> Any:
        return self.cases[index]

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)

    def __str__(self) -> str:
        return f"{self.text}\n{self.summary}"

    def _repr_html_(self) -> str:
        return _table_html([case.row() for case in self.cases], str(self))


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What changed from one version or setting of an engine to another; `print` shows what `upright compare` does."""

    names: tuple[str, str]  # of the sides, with the versions that ran
    scenarios: Sequence[Mapping[str, Any]]  # the objects of `upright compare --json`
    text: str

    @property
    def worse(self) -> list[str]:
        """Scenarios in which something is worse."""
        return [one["scenario"] for one in self.scenarios if one["sign"] in ("worse", "mixed")]

    def table(self) -> Any:
        """A row for each metric that changed: a pandas DataFrame, without pandas a list of dicts."""
        return table(self._rows())

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {"scenario": one["scenario"], "profile": one["b"]["profile"], "variant": one["variant"], **change}
            for one in self.scenarios
            for change in one["changes"]
        ]

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return _table_html(self._rows(), self.text)


@dataclass(frozen=True, kw_only=True)
class Motion:
    """S samples of B bodies in D = 2 or 3 dimensions, world axes, SI. A notebook shows it in the player."""

    scenario: str
    engine: str
    bodies: Sequence[str]
    dt: float  # s, the engine's step
    velocity_lag: float  # s, time of the velocities minus time of the poses
    contact_tolerance: float  # m, the largest gap at which the engine still holds bodies in contact at rest
    time: NDArray[np.float64]  # (S,) s; a repeated time stands before and after an impact
    position: NDArray[np.float64]  # (S, B, D) m, of the centre of mass
    velocity: NDArray[np.float64]  # (S, B, D) m/s
    angle: NDArray[np.float64] | None  # planar: (S, B) rad, unwrapped
    orientation: NDArray[np.float64] | None  # spatial: (S, B, 4) unit quaternion (w, x, y, z), body to world
    spin: NDArray[np.float64]  # rad/s; planar: (S, B), spatial: (S, B, 3) in world axes
    contacts: Mapping[str, NDArray[Any]] | None  # as the engine reports them: sample, a, b, point, normal, gap, impulse
    html: str  # the page that plays it

    def save(self, path: str | Path) -> None:
        """Write the page that plays it."""
        Path(path).write_text(self.html, encoding="utf-8")

    def table(self) -> Any:
        """A row for each body at each time: a pandas DataFrame, without pandas a list of dicts."""
        rows = []
        for s, time in enumerate(self.time.tolist()):
            for b, body in enumerate(self.bodies):
                row: dict[str, Any] = {"time": time, "body": body}
                row |= dict(zip("xyz", self.position[s, b].tolist()))
                row |= {f"v{axis}": value for axis, value in zip("xyz", self.velocity[s, b].tolist())}
                if self.angle is not None:
                    row |= {"angle": float(self.angle[s, b]), "spin": float(self.spin[s, b])}
                if self.orientation is not None:
                    row |= {f"q{axis}": value for axis, value in zip("wxyz", self.orientation[s, b].tolist())}
                    row |= {f"spin_{axis}": value for axis, value in zip("xyz", self.spin[s, b].tolist())}
                rows.append(row)
        return table(rows)

    def __repr__(self) -> str:
        return (
            f"<Motion of {self.scenario} on {self.engine}: {len(self.time)} samples of {len(self.bodies)} bodies, "
            f"{self.time[-1]:g} s>"
        )

    def _repr_html_(self) -> str:
        page = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:{FRAME_HEIGHT}px;border:0"></iframe>'


def ask_motion(request: Mapping[str, Any]) -> Motion:
    """Raises UprightError."""
    import numpy as np

    with tempfile.TemporaryDirectory(prefix="upright-") as folder:
        found = ask({**request, "folder": folder})
        with np.load(Path(folder, "motion.npz")) as stored:
            arrays = {name: stored[name] for name in stored.files}
        page = Path(folder, "motion.html").read_text(encoding="utf-8")
    contacts = {name.removeprefix("contact_"): arrays.pop(name) for name in list(arrays) if name.startswith("contact_")}
    shaped = {name: arrays.get(name) for name in ("angle", "orientation")}
    return Motion(**{**found, **arrays, **shaped}, contacts=contacts or None, html=page)
