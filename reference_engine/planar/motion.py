"""What the located mode hands back: the motion, the log of its events, and what is known of its error."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reference_engine.planar_model.motion import Motion

Array = NDArray[np.float64]
Ids = NDArray[np.int64]

EVENTS = ("impact", "accumulation", "made", "broken", "stick", "slip", "indeterminate", "jam", "inexact")
KINDS = np.array(EVENTS, np.str_)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Events:
    """One row for each contact at which something happened, in order of time.

    impact          an impulse; its numbers are in Motion.impacts
    accumulation    infinitely many impacts end here, and the contact rests: the limit of their times
    made, broken    the contact began to hold bodies together by a force, or ceased to; a rope became taut or slack
    stick, slip     a contact that slid sticks; one that stuck begins to slide, or one that slid slides the other way
    indeterminate   Painleve 1895: contact forces and parting both obey all laws at a sliding contact; it parts
    jam             an impulse where nothing approaches, because no finite forces obey Coulomb's law at several contacts
                    that slide (Genot & Brogliato 1999); its numbers too are in Motion.impacts
    inexact         forces or impulses were found that obey the laws to 100 times round-off only; the worst contact
    """

    time: Array  # (E,) s
    kind: NDArray[np.str_]  # (E,) of EVENTS
    pair: Ids  # (E, 2) bodies a, b; -1 is the background
    point: Array  # (E, 2) m

    def times(self, kind: str) -> Array:
        """Times of one kind, each once [s]."""
        return np.unique(self.time[self.kind == kind])


@dataclass(frozen=True, kw_only=True, eq=False)
class LocatedMotion(Motion):
    """A Motion whose samples are on the caller's grid and just before and after every impact."""

    noted: tuple[Ids, Array]  # (E, 3) kinds, numbers in EVENTS, and bodies; (E, 3) times [s] and points [m]; as found
    connector_force: Array  # (S, C, 2) N, of each joint, rope and rod on its first body, in axes of the world
    penetration: float  # m, the deepest that any two bodies overlap at any event or sample, by separate geometry
    error_estimate: float | None  # m, see `simulate`; None where it was not asked for
    residual: float  # by how many times round-off forces and impulses break the laws at worst; above 1: see "inexact"
    steps: int  # accepted by the integrator

    @cached_property
    def events(self) -> Events:
        ids, values = self.noted
        order = np.argsort(values[:, 0], kind="stable")
        ids, values = ids[order], values[order]
        return Events(time=values[:, 0], kind=KINDS[ids[:, 0]], pair=ids[:, 1:], point=values[:, 1:])
