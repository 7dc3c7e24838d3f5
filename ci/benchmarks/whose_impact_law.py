"""Whose impact law is it? Every engine through the single impacts, and the law that its motion is nearest to.

    python -P ci/benchmarks/whose_impact_law.py

A row is a case of `single-impact`; a cell the law (or laws, where they agree) nearest to what the engine did, and how
far from it, in m/s: the greatest difference of velocity, or of spin times the body's reach. Profile fair, at STEP. The
reference engine is asked by every law that it can be, and must obey. Exit status 1 where it does not.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, get_args

import numpy as np

sys.path.append(str(Path(__file__).parent))
from measuring import Array

from scenarios import mass
from scenarios.catalogue import scenario_of
from scenarios.catalogue.single_impact import Case
from scenarios.scenario import ParameterError, Scenario
from scenarios.scene import ImpactLaw
from validation.engines import engine_of, load_engine, present_engines
from validation.engines.engine import resolve_settings

STEP = 1.0 / 2000.0  # s
AGREE = 1e-9  # m/s: laws that are nearer to one another say the same
OBEYS = 1e-9  # m/s: so near is the reference engine to the law that the scene names
H = 1e-5  # s, of the difference that gives the truth's velocities
LAWS: tuple[ImpactLaw, ...] = get_args(ImpactLaw)


def scenario(case: str, law: str, space: str) -> Scenario | None:
    try:
        return scenario_of(f"single-impact:case={case},law={law},space={space}")
    except ParameterError:
        return None


def motion(engine: Any, given: Scenario) -> Any:
    """The trajectory, or None where the engine declines."""
    if engine.declines(given.scene):
        return None
    return engine.simulate(given.scene, STEP, resolve_settings(engine, "fair", {}, given.scene, STEP))


def end_state(found: Any, given: Scenario) -> Array:
    """Velocities and spins of all bodies at the last sample that the truth holds for: the last step may end later."""
    last = int(np.flatnonzero(found.time <= given.truth.span[1])[-1])
    return np.append(found.velocity[last], found.spin[last])


def states_by_law(case: str, space: str) -> dict[str, Array]:
    """Velocities and spins at the end by each law: of the reference engine's motion, which must be the truth's, or of
    the truth where that engine declines."""
    reference = load_engine(engine_of("reference"))
    found: dict[str, Array] = {}
    end = 0.0
    for law in LAWS:
        given = scenario(case, law, space)
        if given is None:
            continue
        if (done := motion(reference, given)) is None:
            if given.truth.pose and end > 0.0:
                found[law] = slope(given.truth.pose, end)
            continue
        found[law] = end_state(done, given)
        known = done.time <= given.truth.span[1]
        end = float(done.time[known][-1])
        exact = given.truth.pose(done.time) if given.truth.pose else None
        if exact is not None:
            off = np.abs(done.position - exact[..., : done.position.shape[2]])[known].max()
            assert off < OBEYS, f"{given.label}: the reference engine is {off:.1e} m off the law that it was given"
    return found


def slope(pose: Any, time: float) -> Array:
    """As `end_state`, of poses in the plane."""
    before, after = pose(np.array([time - H, time + H]))
    rate = (after - before) / (2.0 * H)
    return np.append(rate[:, :2], rate[:, 2])


def nearest(state: Array, laws: dict[str, Array], reach: float, velocities: int) -> tuple[list[str], float]:
    weight = np.where(np.arange(len(state)) < velocities, 1.0, reach)
    far = {law: float(np.abs(weight * (state - other)).max()) for law, other in laws.items()}
    least = min(far.values())
    return [law for law in laws if far[law] <= least + AGREE], least


def main() -> None:
    engines = {name: load_engine(engine_of(name)) for name in present_engines() if name != "reference"}
    rows, off = [], 0.0
    for space in ("planar", "spatial"):
        for case in get_args(Case):
            try:
                laws = states_by_law(case, space)
            except AssertionError as error:
                print(error)
                off = 1.0
                continue
            asked = scenario(case, "newton", space)
            if asked is None:
                continue
            body = asked.scene.bodies[-1 if case == "pendulum" else 0]
            cells = []
            for engine in engines.values():
                done = motion(engine, asked)
                if done is None:
                    cells.append("–")
                    continue
                names, far = nearest(end_state(done, asked), laws, mass.reach(body.shape), done.velocity[-1].size)
                cells.append(f"{'all' if len(names) == len(laws) else ', '.join(names)} {far:.0e}")
            rows.append((f"{case}, {space}", *cells))
    head = ("case", *engines)
    for row in (head, ("---",) * len(head), *rows):
        print("| " + " | ".join(row) + " |")
    print(f"the reference engine obeys every law that a scene names, to {OBEYS:g} m: {'no' if off else 'yes'}")
    sys.exit(int(off > 0.0))


if __name__ == "__main__":
    main()
