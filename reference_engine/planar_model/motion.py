"""What comes out: samples, contact forces and impacts. SI; arrays over S samples, B bodies, N contacts, M impacts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from reference_engine.array_types import Array, Indices
from reference_engine.elementary import squared
from reference_engine.planar_model.world import World

Rows = TypeVar("Rows", "ContactForces", "Impacts")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ContactForces:
    """Resting contacts at one time. The normal points from a to b; the force acts on b, -force on a.

    Friction is along the tangent (-n_y, n_x), which is the normal turned a quarter counter-clockwise.
    """

    pair: Indices  # (N, 2) indices of bodies a, b
    point: Array  # (N, 2) m, middle of the gap
    normal: Array  # (N, 2)
    gap: Array  # (N,) m
    force: Array  # (N,) N, along the normal, >= 0
    friction: Array  # (N,) N, along the tangent


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Impacts:
    """Impulses. Normal, tangent and sense as in ContactForces."""

    time: Array  # (M,) s
    pair: Indices  # (M, 2)
    point: Array  # (M, 2) m
    normal: Array  # (M, 2)
    gap: Array  # (M,) m, at which the bodies were taken to meet
    speed: Array  # (M,) m/s along the normal just before, negative: approaching
    impulse: Array  # (M,) N s, along the normal
    friction: Array  # (M,) N s, along the tangent


NO_IMPACTS = Impacts(
    time=np.zeros(0), pair=np.zeros((0, 2), np.int64), point=np.zeros((0, 2)), normal=np.zeros((0, 2)),
    gap=np.zeros(0), speed=np.zeros(0), impulse=np.zeros(0), friction=np.zeros(0),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """One time. At an impact there are two of the same time, just before and just after it."""

    time: float  # s
    pose: Array  # (B, 3) x, y [m], angle [rad, unwrapped]
    twist: Array  # (B, 3) velocity of the centre of mass [m/s], spin [rad/s]
    contacts: ContactForces
    impacts: Impacts  # that led to this twist; empty except just after an impact


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Motion:
    """All samples of a simulation. Contact k belongs to sample i if first_contact[i] <= k < first_contact[i + 1]."""

    time: Array  # (S,)
    pose: Array  # (S, B, 3)
    twist: Array  # (S, B, 3)
    contacts: ContactForces
    first_contact: Indices  # (S + 1,)
    impacts: Impacts

    def contacts_at(self, sample: int) -> ContactForces:
        rows = slice(self.first_contact[:-1][sample], self.first_contact[1:][sample])
        return ContactForces(**{name: getattr(self.contacts, name)[rows] for name in ContactForces.__slots__})


def joined(rows: Sequence[Rows]) -> Rows:
    """Contacts or impacts, one after the other, as one."""
    kind = type(rows[0])
    return kind(**{name: np.concatenate([getattr(each, name) for each in rows]) for name in kind.__slots__})


def collect(samples: Iterable[Sample]) -> Motion:
    """Samples, one after the other, as arrays."""
    rows = list(samples)
    contacts, impacts = [s.contacts for s in rows], [s.impacts for s in rows if len(s.impacts.time)]
    counts = np.array([len(c.force) for c in contacts], np.int64)
    impacts = impacts or [rows[0].impacts]
    return Motion(
        time=np.array([s.time for s in rows]),
        pose=np.array([s.pose for s in rows]),
        twist=np.array([s.twist for s in rows]),
        contacts=joined(contacts),
        first_contact=np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]),
        impacts=joined(impacts),
    )


def energy(world: World, motion: Motion) -> Array:
    """Kinetic and potential energy of the bodies that are not fixed, at every sample [J]. (S,)"""
    total = np.zeros(len(motion.time))
    for i, body in enumerate(world.bodies):
        if not body.fixed:
            u, x = motion.twist[:, i], motion.pose[:, i]
            total += 0.5 * body.mass * (squared(u[:, 0]) + squared(u[:, 1])) + 0.5 * float(
                body.inertia or 0.0
            ) * squared(u[:, 2])
            total -= body.mass * (world.gravity[0] * x[:, 0] + world.gravity[1] * x[:, 1])
    return total
