"""Every adapter against the oldest and newest release that it claims: `python -P ci/adapter_releases.py [ENGINE]...`

A few scenarios that have between them each feature of scenes that the adapter takes, as far as the catalogue goes, and
one with each choice of each setting. A fault of our adapter ends with exit status 1; what else became of them is
listed. Weekly, for it installs wheels.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from scenarios.catalogue import comparison_suite
from scenarios.features import scene_features
from scenarios.scenario import Scenario
from validation.cli.progress import Shown
from validation.engines import OURS, EngineChoice, engine_of, load_engine, present_engines
from validation.records.case import Result
from validation.running.runner import Limits
from validation.running.versions import Asked, LackingError, Releases, open_releases, releases_of, version_of

OLDEST = {"pymunk": "5.4.1", "mujoco": "2.3.7", "dart": "6.16.2", "physx": "3.0.0"}
"""That an adapter claims (docs/compare.md); of the others all with a wheel for this Python."""


def covering(engine: EngineChoice) -> list[Scenario]:
    """Scenarios with each feature that it takes, in few: each adds the most that are not there yet."""
    adapter = load_engine(engine)
    left = [scenario for scenario in comparison_suite() if adapter.declines(scenario.scene) is None]
    missing = set().union(*(scene_features(scenario.scene) for scenario in left))
    chosen = []
    while missing:
        best = max(left, key=lambda one: (len(scene_features(one.scene) & missing), -len(one.scene.bodies)))
        missing -= scene_features(best.scene)
        chosen.append(best)
    return chosen


def settings_of(engine: EngineChoice) -> Iterator[EngineChoice]:
    """The engine with each choice of each setting, one at a time."""
    for name, setting in load_engine(engine).settings.items():
        values = ("true", "false") if isinstance(setting.default, bool) else setting.choices
        for value in values:
            yield replace(engine, overrides={name: value})


def failed(opened: Releases, choice: EngineChoice) -> Iterator[str]:
    """What the adapter failed in, a line each; the rest is counted on standard output."""
    try:
        results = [result for _, result in opened.cells(choice)]
    except LackingError as error:
        print(f"{choice.label}: not run, {error}")
        if "fault of Upright's adapter" in str(error):
            yield f"{choice.label}: {error}"
        return
    outcomes = [result.outcome for result in results]
    print(f"{choice.label}: {', '.join(f'{outcomes.count(word)} {word}' for word in dict.fromkeys(outcomes))}")
    yield from (described(result) for result in results if result.outcome == "adapter_failed")
    for result in results:
        if result.outcome not in ("completed", "declined", "adapter_failed"):
            print(f"  {described(result)}")


def described(result: Result) -> str:
    case = result.case
    return (
        f"{case.label} × {case.engine_label} {case.engine_version}: {result.outcome.replace('_', ' ')}, {result.reason}"
    )


def faults(name: str) -> Iterable[str]:
    engine = engine_of(name)
    found = releases_of(engine, version_of(OLDEST[name]) if name in OLDEST else None)
    ends = list(dict.fromkeys((found[0].version, found[-1].version)))
    scenarios = covering(engine)
    print(f"{name}: {len(scenarios)} scenarios on {' and '.join(map(str, ends))}")
    varied = [replace(one, version=version) for version in ends for one in settings_of(engine)]
    plain = [replace(engine, version=version) for version in ends]
    for asked, choices in ((scenarios, plain), (scenarios[:1], varied)):
        with open_releases(
            choices, Asked(scenarios=asked, profiles=["fair"], limits=Limits()), Shown(quiet=True)
        ) as opened:
            for choice in choices:
                yield from failed(opened, choice)


def main(names: Sequence[str]) -> None:
    ours = [name for name in OURS if OURS[name] is not None and name in present_engines()]
    found = [line for name in names or ours for line in faults(name)]
    print("\n".join(found) or "no adapter failed")
    sys.exit(bool(found))


if __name__ == "__main__":
    main(sys.argv[1:])
