"""Cone problems: random clusters of spheres and one sphere that is thrown along a plane."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from reference_engine.contact_problems.cone_problem import ConeProblem


def cluster(rng: np.random.Generator, contacts: int, friction: float = 0.5, edges: int = 0) -> ConeProblem:
    """Bodies in a chain with cross links, every third contact with the ground; they fly at 1 m/s, whichever way."""
    bodies = max(2, contacts // 2)
    J = np.zeros((3 * contacts, 6 * bodies))
    for k in range(contacts):
        a = k % bodies
        b = -1 if k % 3 == 0 else (a + 1 + int(rng.integers(bodies - 1))) % bodies
        frame, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        for body, sign in ((a, -1.0), (b, 1.0)):
            if body >= 0:
                arm = 0.1 * rng.normal(size=3)
                for i in range(3):
                    J[3 * k + i, 6 * body : 6 * body + 6] = sign * np.r_[frame[i], np.cross(arm, frame[i])]
    mass = rng.uniform(0.5, 2.0, bodies)
    M = np.repeat(1.0 / mass, 6).reshape(bodies, 6) * (1.0, 1.0, 1.0, 250.0, 250.0, 250.0)
    W = J @ np.diag(M.ravel()) @ J.T
    b = (J @ rng.normal(size=6 * bodies)).reshape(-1, 3)
    return ConeProblem(sparse.csr_array(W), b, np.full(contacts, friction), edges)


def thrown_sphere(speed: float, mu: float, dt: float, edges: int, *, torque: bool = True) -> ConeProblem:
    """A sphere of 1 kg and 0.1 m on a plane, a step after it was thrown along it. No torque: as Oltman & Hur 2017."""
    across = 1.0 + (2.5 if torque else 0.0)
    b = np.array([[-9.81 * dt, speed * np.cos(0.3), speed * np.sin(0.3)]])
    return ConeProblem(sparse.csr_array(np.diag([1.0, across, across])), b, np.array([mu]), edges)
