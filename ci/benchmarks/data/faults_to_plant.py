"""Faults to plant in our engines and in our measuring: a file, what it has once, and what it has instead."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    name: str
    file: str  # from the root of the repository
    old: str
    new: str


FAULTS = (
    Planted(
        name="sign of a cross product",
        file="validation/metrics/axes.py",
        old="(arm[..., 0] * force[..., 1] - arm[..., 1] * force[..., 0])",
        new="(arm[..., 0] * force[..., 1] + arm[..., 1] * force[..., 0])",
    ),
    Planted(
        name="missing velocity term",
        file="reference_engine/planar/rows.py",
        old="a += 2.0 * w2 * G[k, col.ACROSS] - w2 * w2 * G[k, col.SPAN]",
        new="a -= w2 * w2 * G[k, col.SPAN]",
    ),
    Planted(
        name="wrong inertia",
        file="reference_engine/geometry/mass_properties.py",
        old="second = second / 24.0",
        new="second = second / 12.0",
    ),
    Planted(
        name="friction torque dropped",
        file="reference_engine/planar/rows.py",
        old="        out[at, col.ROW_I], out[at, col.ROW_J] = G[k, col.MT1], G[k, col.MT2]\n",
        new="        out[at, col.ROW_I], out[at, col.ROW_J] = 0.0, 0.0\n",
    ),
    Planted(
        name="restitution squared",
        file="reference_engine/planar/impact.py",
        old="problem.base[r] = found.value[k, col.RESTITUTION] * max(0.0, answer.f[2 * r])",
        new="problem.base[r] = found.value[k, col.RESTITUTION] ** 2 * max(0.0, answer.f[2 * r])",
    ),
    Planted(
        name="restitution squared, Newton's law",
        file="reference_engine/planar/impact.py",
        old="event.problem.b[2 * r] = (1.0 + factor * e) * speed[2 * k]",
        new="event.problem.b[2 * r] = (1.0 + factor * e * e) * speed[2 * k]",
    ),
    Planted(
        name="lost contact",
        file="reference_engine/planar/active_set.py",
        old="    count[col.ACTIVE] = m\n    projection.project(",
        new="    count[col.ACTIVE] = m - 1 if m > 2 else m\n    projection.project(",
    ),
    Planted(
        name="stale normal",
        file="reference_engine/planar/rows.py",
        old="        measure(model, y, run.active, k, work.geometry)\n"
        "        work.force[k, 0] = work.force[k, 1] = 0.0\n",
        new="        work.force[k, 0] = work.force[k, 1] = 0.0\n",
    ),
    Planted(
        name="joint drift",
        file="reference_engine/planar/projection.py",
        old="work.right[r] = -work.geometry[k, col.GAP]",
        new="work.right[r] = work.geometry[k, col.GAP]",
    ),
    Planted(
        name="off by one in the contact set",
        file="reference_engine/planar/log.py",
        old="    for k in range(count[col.ACTIVE]):\n        if active.id[k, col.ROLE] != col.CONTACT:",
        new="    for k in range(count[col.ACTIVE] - 1):\n        if active.id[k, col.ROLE] != col.CONTACT:",
    ),
    Planted(
        name="unsorted events",
        file="validation/metrics/impact.py",
        old='order = np.argsort(interval, kind="stable")',
        new="order = np.arange(len(interval))",
    ),
    Planted(
        name="quaternion from the wrong side",
        file="reference_engine/rotation.py",
        old="    v = c * x + a * w + b * z - d * y\n"
        "    p = c * y + b * w + d * x - a * z\n"
        "    q = c * z + d * w + a * y - b * x\n",
        new="    v = c * x + a * w - b * z + d * y\n"
        "    p = c * y + b * w - d * x + a * z\n"
        "    q = c * z + d * w - a * y + b * x\n",
    ),
    Planted(
        name="gap that forgets a face",
        file="reference_engine/geometry/planar_gap.py",
        old="    separation, best, nearest = -np.inf, p0, q0\n    for i in range(p0, p1):\n",
        new="    separation, best, nearest = -np.inf, p0, q0\n    for i in range(p0 + 1, p1):\n",
    ),
    Planted(
        name="momentum of a spin half-way",
        file="reference_engine/heaps/loop.py",
        old="momentum_of(now.orientation, scene.inertia, bodies.twist, i, flow.momentum)",
        new="momentum_of(flow.middle, scene.inertia, bodies.twist, i, flow.momentum)",
    ),
    Planted(
        name="sign of the gyroscopic torque",
        file="reference_engine/multibody/dynamics.py",
        old="        torque -= np.stack(",
        new="        torque += np.stack(",
    ),
    Planted(
        name="damping that drives",
        file="reference_engine/compliant/contacts.py",
        old="elastic * (1.0 - damping * separation_speed)",
        new="elastic * (1.0 + damping * separation_speed)",
    ),
    Planted(
        name="spin's energy in world axes",
        file="validation/metrics/energy.py",
        old="    body_spin = to_body_axes(o.trajectory.orientation, spin)\n",
        new="    body_spin = spin\n",
    ),
    Planted(
        name="sign of reported friction",
        file="reference_engine/planar/log.py",
        old="log.contact[row, col.FRICTION_FORCE] = work.force[k, 1]",
        new="log.contact[row, col.FRICTION_FORCE] = -work.force[k, 1]",
    ),
    Planted(
        name="sign of Euler's equations",
        file="reference_engine/spatial/accelerations.py",
        old="torque = cross(by_inertia(R, model.inertia[i], w), w)",
        new="torque = cross(w, by_inertia(R, model.inertia[i], w))",
    ),
    Planted(
        name="quaternion from the wrong side, in space",
        file="reference_engine/spatial/accelerations.py",
        old="along(cross(w, q), scalar, w)",
        new="along(cross(q, w), scalar, w)",
    ),
    Planted(
        name="torque of contact forces dropped, in space",
        file="reference_engine/spatial/accelerations.py",
        old="torque = times(sign, cross(r, f))",
        new="torque = times(0.0, cross(r, f))",
    ),
    Planted(
        name="normal that does not turn, in space",
        file="reference_engine/spatial/accelerations.py",
        old="n, n_rate = three(out, col.N), three(out, col.RATE_N)",
        new="n, n_rate = three(out, col.N), times(0.0, three(out, col.RATE_N))",
    ),
)
