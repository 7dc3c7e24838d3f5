"""The law of one contact.

Normal: f = c delta^1.5 (1 - d s'), delta the depth, s' the speed of separation (Hertz's spring with a damping that
grows with the force; Hunt & Crossley 1975, J. Appl. Mech. 42), c from moduli and radii. d belongs to the approach:

    d = 8 (1 - e) / (5 e v),   at most `most_damping`,   v the speed at which the two met,

and e = 0 for an approach not above v_small (Flores & Lankarani 2016, Contact Force Models, ch. 3). So e is nominal:
without other forces the speeds after and before are in the ratio (1 + W(-(1 + x) e^-(1 + x))) / x, x = d v, W the upper
branch of Lambert's function, whatever mass and stiffness: 0.4704 for e = 0.5, 0.8939 for 0.9.

A contact does not pull: where something else parts two bodies faster than 1/d the force is 0.
Friction -mu f v_t / reg(|v_t|, v_small) on the second body; rolling torque -mu_r r f w / reg(|w|, w_small), w its spin
relative to the first, spinning on the spot included.
"""

from __future__ import annotations

import numpy as np

from reference_engine.compiler.kernels import inlined, kernel


@kernel
def damping_of(approach, restitution, v_small, most):
    """d [s/m]."""
    e = restitution if approach > v_small else 0.0
    if e == 0.0:
        return most
    return min(most, 8.0 * (1.0 - e) / (5.0 * e * approach))


@inlined
def regularised(x, small):
    """x, but at least small / 3: twice continuously differentiable where the two meet, at x = small."""
    if x >= small:
        return x
    share = x / small
    return small * (share * share * (1.0 - share / 3.0) + 1.0 / 3.0)


@kernel
def normal_force(depth, separation_speed, stiffness, damping):
    """Force [N], its elastic part, and the power that its damping takes out [W]."""
    if depth <= 0.0:
        return 0.0, 0.0, 0.0
    elastic = stiffness * depth * np.sqrt(depth)
    force = max(0.0, elastic * (1.0 - damping * separation_speed))
    return force, elastic, (elastic - force) * separation_speed


@kernel
def elastic_energy(depth, stiffness):
    """J."""
    return 0.4 * stiffness * depth * depth * np.sqrt(depth) if depth > 0.0 else 0.0
