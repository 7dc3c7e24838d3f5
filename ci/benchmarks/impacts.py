"""Solved impacts at one contact, solved again by every law that they name.

    python -P ci/benchmarks/impacts.py [DIR]

DIR [data/impacts beside this file] holds JSON files, each with `inputs`: K, u0 (x, y, z, with a normal or the last
axis) or u0_t_n (tangential, normal), mu, e, and where joints take part M, J and qdot, which K and u0 may be left to;
and `expected` by law:

    newton, poisson, stronge; kane_levinson_newton; algebraic_kappa_et0.4 (0.4 is the tangential restitution)

with impulse, velocity, the works and impulse of compression, the change of energy, kappa, and where joints take part
qdot, KE0 and KE1: each by its scale, |u0| for velocities (or the greater speed after), the impulse for impulses, their
product for energies. `mode` and phases must be the same, if both are given in words that are known: at a boundary
between two, where a change of friction or velocity by 1e-9 makes the difference, either.

Limits: 1e-12 in the plane and 1e-10 in space; a file's own `tolerance` above that, up to 1e-9; and what the last digit
of an ill-conditioned K (more than 1e3) is worth. Prints hit or miss with the greatest difference and its figure. Exits
1 on a miss, which what cannot be read, solved or compared is too; 2 where there is nothing to solve.
"""

import re
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from reference_engine.array_types import Array
from reference_engine.contact_problems.impact_laws import Impact, impact, inverse_mass_through_joints

sys.path.append(str(Path(__file__).parent))
from recorded_cases import Case, CaseError, Compared, Comparison, compare, numbers, section, solve_folder

OWN = Path(__file__).parent / "data" / "impacts"
LAWS = {"newton": "newton", "poisson": "poisson", "stronge": "stronge", "kane_levinson_newton": "stick-or-slip"}
PLANAR, SPATIAL = 1e-12, 1e-10
WIDEST = 1e-9  # to which a file's own tolerance counts
CONDITION = 4.0 * np.finfo(float).eps  # times that of K: what the last digits of K are worth
BOUNDARY = 1e-9  # of friction or velocity: phases that change with so little are either
ABOUT_THE_CASE = re.compile(r"crosscheck|selfconv|residual|source|note|comment")
NAMES = {"|maxcomp|": "compression", "maxcomp": "compression", "slipstop": "slip-stop"}
KNOWN = {"slip", "slip+1", "slip-1", "stick", "compression", "slip-stop"}


def law_of(name: str, inputs: Case) -> tuple[str, float]:
    """Our law and its tangential restitution."""
    if name in LAWS:
        return LAWS[name], 0.0
    if found := re.fullmatch(r"algebraic(?:_kappa)?(?:_et(-?[0-9.]+))?", name):
        return "chatterjee-ruina", float(found[1] if found[1] else inputs.get("e_t", inputs.get("et", 0.0)))
    raise CaseError(f"law {name!r}: known are {', '.join(LAWS)}, algebraic_kappa_et…")


class Contact:
    """The inputs of a file."""

    def __init__(self, inputs: Case) -> None:
        self.joints: tuple[Array, Array, Array] | None = None
        if {"M", "J", "qdot"} & set(inputs):
            M, J, before = (numbers(inputs, key) for key in ("M", "J", "qdot"))
            if before.ndim != 1 or M.shape != (len(before),) * 2 or J.shape[1:] != before.shape:
                raise CaseError(f"inputs.M, J, qdot: shapes {M.shape}, {J.shape}, {before.shape} do not fit")
            self.joints = (M, J, before)
        key = next((key for key in ("u0", "u0_t_n") if key in inputs), None)
        if key is None and self.joints is None:
            raise CaseError(f"inputs.u0 or u0_t_n: neither is there; given: {', '.join(inputs)}")
        self.u0 = numbers(inputs, key) if key else self.joints[1] @ self.joints[2]
        if "K" in inputs or self.joints is None:
            self.K = numbers(inputs, "K", self.u0.shape * 2)
        else:
            self.K = inverse_mass_through_joints(*self.joints[:2])
        self.mu, self.e = (float(numbers(inputs, key, ())) for key in ("mu", "e"))
        self.normal = None if inputs.get("normal") is None else numbers(inputs, "normal", self.u0.shape)

    def solve(self, law: str, tangential: float, *, more_friction: float = 0.0, faster: float = 0.0) -> Impact:
        n = np.eye(len(self.u0))[-1] if self.normal is None else self.normal
        sliding = self.u0 - (n @ self.u0) * n
        return impact(
            self.K, self.u0 + faster * sliding, friction=self.mu * (1.0 + more_friction), restitution=self.e, law=law,
            normal=self.normal, tangential_restitution=tangential,
        )  # fmt: skip

    def limit(self, data: Case) -> float:
        own = data.get("tolerance")
        wide = float(own) if isinstance(own, int | float) and 0.0 < own <= WIDEST else 0.0
        return max(PLANAR if len(self.u0) == 2 else SPATIAL, wide, CONDITION * float(np.linalg.cond(self.K)))

    def figures(self, found: Impact) -> dict[str, tuple[Any, float]]:
        """What we found and its scale, by the names that the files use."""
        speed = max(float(np.linalg.norm(self.u0)), float(np.linalg.norm(found.velocity))) or 1.0
        momentum = max(float(np.linalg.norm(found.impulse)), speed / float(np.abs(self.K).max()))
        energy = speed * momentum
        have: dict[str, tuple[Any, float]] = {
            "jn_compression": (found.compression_impulse, momentum),
            "Wn_compression": (found.compression_work, energy),
            "Wn_total": (found.normal_work, energy),
            "delta_E": (found.energy_change, energy),
            "kappa": (found.factor, 1.0 if found.factor is None else max(1.0, abs(found.factor))),
        }
        have |= dict.fromkeys(("impulse", "impulse_t_n"), (found.impulse, momentum))
        have |= dict.fromkeys(("velocity", "velocity_t_n"), (found.velocity, speed))
        if self.joints:
            M, J, before = self.joints
            after = before + np.linalg.solve(M, J.T @ found.impulse)
            kinetic = [0.5 * float(rates @ M @ rates) for rates in (before, after)]
            have["qdot"] = (after, max(float(np.linalg.norm(before)), float(np.linalg.norm(after))))
            have["KE0"], have["KE1"] = ((value, max(*kinetic, energy)) for value in kinetic)
        return have

    def kappa_is_arbitrary(self) -> bool:
        """Whether the impulses that it stands between, to stop all motion and the normal one alone, are the same."""
        n = np.eye(len(self.u0))[-1] if self.normal is None else self.normal
        rest, frictionless = -np.linalg.solve(self.K, self.u0), -(n @ self.u0) / (n @ self.K @ n) * n
        return bool(np.linalg.norm(rest - frictionless) <= 1e-13 * np.linalg.norm(rest))


def words(phases: Any, e: float) -> tuple[str, ...]:
    """Phases of a file or of ours, each with what ends it; those of space say where compression ends between two.

    What follows the compression is left out where nothing is given back: no impulse is left for it.
    """
    described: list[str] = []
    for part in phases if isinstance(phases, list | tuple) else [phases]:
        described += part if isinstance(part, list | tuple) else [part]
    described = [NAMES.get(word, word) if isinstance(word, str) else repr(word) for word in described if word != "end"]
    return tuple(
        described[: described.index("compression") + 1] if e == 0.0 and "compression" in described else described
    )


def mismatch_of(figure: str, described: Any, contact: Contact, law: tuple[str, float], found: Impact) -> str | None:
    """Why what a file says of phases or mode is not so: "" if it is; None where it says it in words of its own."""

    def decisions(impact_: Impact) -> tuple[str, ...]:
        if figure == "phases":
            return words(impact_.phases, contact.e)
        return (impact_.phases[-1][0].rstrip("+-1") if impact_.phases else "slip",)

    wanted = words(described, contact.e)
    if not set(wanted) <= KNOWN:
        return None
    if figure == "phases" and not np.any(found.impulse):  # none of them has a length
        return ""
    for friction, velocity in (0.0, 0.0), (BOUNDARY, 0.0), (-BOUNDARY, 0.0), (0.0, BOUNDARY), (0.0, -BOUNDARY):
        if decisions(contact.solve(*law, more_friction=friction, faster=velocity)) == wanted:
            return ""
    return f"{', '.join(wanted)}; here {', '.join(decisions(found))}"


def solve(data: Case, inputs: Case, name: str, expected: Any) -> Iterator[Compared | str]:
    """One line for the law, with the figure that is furthest off; those that miss one by one; what is not compared."""
    law = law_of(name, inputs)
    if not isinstance(expected, dict):
        raise CaseError(f"expected.{name}: no object with figures")
    contact = Contact(inputs)
    found = contact.solve(*law)
    have, limit = contact.figures(found), contact.limit(data)
    if law[0] == "chatterjee-ruina" and contact.kappa_is_arbitrary():
        have.pop("kappa")
    compared, passed = [], []
    for figure, value in expected.items():
        if figure in have:
            compared.append(compare(figure, value, *have[figure], limit))
        elif figure in ("phases", "mode"):
            if (reason := mismatch_of(figure, value, contact, law, found)) is None:
                passed.append(figure)
            elif reason:
                compared.append(Compared(figure, float("nan"), limit, reason))
        elif not ABOUT_THE_CASE.search(figure):
            passed.append(figure)
    if "KE0" in inputs and "KE0" in have:
        compared.append(compare("inputs.KE0", inputs["KE0"], *have["KE0"], limit))
    if not any(figure in have for figure in expected):
        raise CaseError(f"expected.{name}: nothing to compare with; known: {', '.join(have)}")
    missed = [one for one in compared if not one.hit]
    yield from missed or [max(compared, key=lambda one: one.difference)]
    if passed:
        yield f"not compared: {', '.join(passed)}"


def comparisons(data: Case) -> dict[str, Comparison]:
    inputs, laws = section(data, "inputs"), section(data, "expected")
    return {
        name: partial(solve, data, inputs, name, expected)
        for name, expected in laws.items()
        if not (isinstance(expected, str | int | float) and ABOUT_THE_CASE.search(name))
    }


def main(arguments: list[str]) -> int:
    return solve_folder(arguments, __doc__.split("\n\n")[1].strip(), comparisons, OWN)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
