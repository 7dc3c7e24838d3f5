"""What the inputs of a recorded mechanism mean: the mechanism, and how columns of a file are read from its motion.

Inputs are asked for by all the names that they are known by; what nothing asked for is printed.
"""

import math
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from mechanism_inputs import NUMBER, WAYS, Array, Inputs, Recorded, known_column, order_of, row_of, split, start_of
from recorded_cases import Case, CaseError

from reference_engine.multibody.joints import Distance, Rolling, ball, revolute
from reference_engine.multibody.links import Link
from reference_engine.multibody.mechanism import Mechanism, MechanismMotion
from reference_engine.rotation import matrices_by_direction as matrices
from tests.reference_engine.multibody import classics
from tests.reference_engine.multibody.classics import ANGLES
from tests.reference_engine.multibody.space_linkages import GOVERNOR, bricard, flyball_governor

ANDREWS_ANGLES = 1e-8
FOREIGN = re.compile(r"ladder|cardan|hooke|geneva|gear|cart|crane|wheel|plank|\ba0[6-9]")


def recorded(data: Case) -> Recorded:
    """The kind is known by name and inputs together. Raises CaseError."""
    inputs = Inputs(data)
    names = {name.lower() for name in inputs.given}
    counts = tuple(np.size(inputs.given.get(name, ())) for name in ("L", "m"))
    if counts in LINKAGES and not re.search("pendul|chain", inputs.name):
        found = LINKAGES[counts](inputs)
        return replace(found, notes=found.notes + inputs.unasked())
    known = [entry for entry in KINDS if re.search(entry[1], inputs.name)]
    for kind, words, keys in known or (() if FOREIGN.search(inputs.name) else KINDS):
        if re.search(words, inputs.name) or any(each <= names for each in keys):
            found = kind(inputs)
            return replace(found, notes=found.notes + inputs.unasked())
    raise CaseError(
        f"name {data.get('name')!r} with inputs {', '.join(inputs.given) or 'none'} is no case that is known here: "
        "pendulums (L, m; I, d), slider-crank, four-bar, N four-bars, Andrews, Bricard, governor, top, free body, "
        "ball in a bowl"
    )


# --- pendulums ------------------------------------------------------------------------------------------


def chain(inputs: Inputs) -> Recorded:
    """One pendulum or several, of points on massless rods or of uniform slender rods."""
    L = inputs.numbers("L", "l", "lengths", "length")
    if L is None:
        raise CaseError(f"inputs.L: not there; given: {', '.join(inputs.given) or 'nothing'}")
    m = inputs.numbers("m", "masses", "mass")
    notes = () if m is not None or len(L) == 1 else ("masses not given, taken as equal",)
    m = np.ones(len(L)) if m is None else m
    n = len(L)
    if len(m) != n:
        raise CaseError(f"inputs.m: {len(m)} masses of {n} lengths")
    named = re.search(r"\brods?\b|\bbars?\b|uniform|slender", inputs.name + " " + inputs.start)
    rods = bool(inputs.given.get("rods", bool(named)))
    columns = order_of(inputs, n)
    angles, spins, decisions = start_of(inputs, columns, n)
    offset = 0.5 * math.pi if "horizontal" in inputs.order else 0.0
    mechanism = classics.pendulum_chain(
        m.tolist(), L.tolist(), [angle + offset for angle in angles], spins, rods=rods, gravity=inputs.gravity()
    )

    def ends(motion: MechanismMotion) -> tuple[Array, Array]:
        if not rods:
            return motion.position, motion.velocity
        s, c = np.sin(motion.orientation), np.cos(motion.orientation)
        half, spin = 0.5 * L[:, None], motion.spin[..., None]
        along, aside = np.stack([s, -c], axis=2), np.stack([c, s], axis=2)
        return motion.position + half * along, motion.velocity + half * spin * aside

    def read(motion: MechanismMotion, column: str) -> Array:
        kind, i = split(column, n)
        if rods and kind in ("th", "w"):
            return motion.orientation[:, i] - offset if kind == "th" else motion.spin[:, i]
        positions, speeds = ends(motion)
        if kind in ("x", "y"):
            return positions[:, i, int(kind == "y")]
        if kind in ("vx", "vy"):
            return speeds[:, i, int(kind == "vy")]
        d = positions[:, i] - (positions[:, i - 1] if i else 0.0)
        if kind == "th":
            return np.arctan2(d[:, 0], -d[:, 1]) - offset
        rate = speeds[:, i] - (speeds[:, i - 1] if i else 0.0)
        return (d[:, 0] * rate[:, 1] - d[:, 1] * rate[:, 0]) / L[i] ** 2

    return Recorded(
        mechanism=mechanism, read=read, columns=columns, turning=rods, swing="th1" if n == 1 else "",
        moment=math.sqrt(float(L[0]) / inputs.gravity()), either_sense=not decisions, notes=notes,
    )  # fmt: skip


def physical(inputs: Inputs) -> Recorded:
    """A rigid body on a pin, its centre of mass at the distance d; I about the centre, or named for the pivot."""
    d, m = inputs.number("d", "h", "l_cm", "r_cm", "lc"), inputs.number("m", "mass", otherwise=1.0)
    if (pivot := inputs.numbers("I_pivot", "I_O", "I_o", "I_P", "I_p", "J_O")) is not None:
        inertia = float(pivot[0]) - m * d * d
        notes: tuple[str, ...] = ()
    else:
        inertia = inputs.number("I", "J", "I_cm", "I_c", "Ic", "I_G", "I_S")
        notes = ("I is taken about the centre of mass",)
    inputs.any("L")
    columns = order_of(inputs, 1)
    (angle,), (spin,), decisions = start_of(inputs, columns, 1)
    out, aside = np.array([math.sin(angle), -math.cos(angle)]), np.array([math.cos(angle), math.sin(angle)])
    body = Link(position=d * out, velocity=d * spin * aside, orientation=angle, spin=spin, mass=m, inertia=inertia)
    g = inputs.gravity()
    mechanism = Mechanism(links=(body,), joints=(revolute(-1, 0, second_point=(0.0, d)),), gravity=(0.0, -g))

    def read(motion: MechanismMotion, column: str) -> Array:
        kind, _ = split(column, 1)
        return {"th": motion.orientation[:, 0], "w": motion.spin[:, 0], "x": motion.position[:, 0, 0],
                "y": motion.position[:, 0, 1]}[kind]  # fmt: skip

    moment = math.sqrt((inertia + m * d * d) / (m * g * d))
    return Recorded(mechanism=mechanism, read=read, columns=columns, turning=True, swing="th", moment=moment,
                    either_sense=not decisions, notes=notes)  # fmt: skip


def falling(inputs: Inputs) -> Recorded:
    """A uniform rod that falls about its lower end, its angle from upright; it ends level."""
    L, g = inputs.number("L", "l", "length", "H", "h"), inputs.gravity()
    inputs.any("m", "mass")
    (angle,), (spin,), _ = start_of(inputs, ("th1", "w1"), 1)
    mechanism = classics.pendulum_chain((1.0,), (L,), (math.pi - angle,), (-spin,), gravity=g)

    def read(motion: MechanismMotion, column: str) -> Array:
        angle, spin = math.pi - motion.orientation[:, 0], -motion.spin[:, 0]
        known = {"cos": np.cos(angle), "w": spin, "w1": spin, "th": angle, "th1": angle, "theta": angle}
        return known_column(known, column, "th, w")

    return Recorded(mechanism=mechanism, read=read, columns=("th1", "w1"), turning=True, falls="cos",
                    moment=math.sqrt(L / g))  # fmt: skip


# --- linkages -------------------------------------------------------------------------------------------


def linkage_start(inputs: Inputs, columns: tuple[str, ...]) -> tuple[float, float]:
    if (angle := inputs.angles("th_crank", "theta_crank", "crank_angle")) is not None:
        return float(angle[0]), inputs.number("w_crank", "omega_crank", "crank_spin", "crank_speed", otherwise=0.0)
    (angle,), (spin,), _ = start_of(inputs, columns, 1)
    return angle, spin


def slider(inputs: Inputs) -> Recorded:
    names = inputs.any("r", "crank", "a", "L1", "l1"), inputs.any("l", "rod", "b", "L2", "l2")
    if names[0] and names[1]:
        crank, rod = (float(row_of(name, inputs.given[name])[0]) for name in names if name)
    else:
        crank, rod = inputs.exactly("slider-crank", 2, "L", "l", "lengths")
    masses = inputs.named("m", ("crank", "rod|coupler|connecting_rod", "slider|piston"))
    masses = masses or inputs.exactly("slider-crank", 3, "m", "masses")
    columns = order_of(inputs, 1)
    angle, spin = linkage_start(inputs, columns)
    mechanism = classics.slider_crank(crank, rod, masses=masses, angle=angle, spin=spin, gravity=inputs.gravity())

    def read(motion: MechanismMotion, column: str) -> Array:
        if found := re.fullmatch(r"(th|theta|w|omega)_?(crank|rod|1|2)", column.lower()):
            kind, link = ("th" if found[1].startswith("th") else "w"), int(found[2] in ("rod", "2"))
            return (motion.orientation if kind == "th" else motion.spin)[:, link]
        kind, _ = split(re.sub(r"_?(slider|piston|crank)$", "", column.lower()), 1)
        return {"th": motion.orientation[:, 0], "w": motion.spin[:, 0], "x": motion.position[:, 2, 0],
                "y": motion.position[:, 2, 1], "vx": motion.velocity[:, 2, 0],
                "vy": motion.velocity[:, 2, 1]}[kind]  # fmt: skip

    return Recorded(mechanism=mechanism, read=read, columns=columns, turning=True)


def of_links(motion: MechanismMotion, column: str) -> Array:
    found = re.fullmatch(r"(th|theta|w|omega)([123]?)", column)
    if not found:
        raise CaseError(f"column {column!r}: known are th, w, th1 ... w3 of crank, coupler, rocker")
    return (motion.orientation if found[1].startswith("th") else motion.spin)[:, int(found[2] or 1) - 1]


def bars(inputs: Inputs) -> Recorded:
    lengths = inputs.exactly("four-bar", 4, "L", "l", "lengths")
    masses = inputs.named("m", ("crank|input", "coupler", "rocker|follower|output"))
    masses = masses or inputs.exactly("four-bar", 3, "m", "masses")
    columns = order_of(inputs, 1)
    angle, spin = linkage_start(inputs, columns)
    crossed = bool(inputs.given.get("crossed", False))
    inputs.any("crossed")
    mechanism = classics.four_bar(
        lengths, masses=masses, angle=angle, spin=spin, gravity=inputs.gravity(), crossed=crossed
    )
    return Recorded(mechanism=mechanism, read=of_links, columns=columns, turning=True)


def windows(inputs: Inputs) -> Recorded:
    """IFToMM's A02: N parallelograms in a row, upright; B0 is the end of the first crank."""
    n = int(inputs.number("N", "n", "windows", otherwise=1.0))
    L, m = (inputs.number(*names, otherwise=1.0) for names in (("L", "l", "length"), ("m", "mass")))
    decisions = re.search(rf"({NUMBER})\s*m/s", inputs.start)
    speed = inputs.number("v", "v0", "vx", "speed", otherwise=float(decisions[1]) if decisions else 1.0)
    mechanism = classics.n_four_bar(n, length=L, mass=m, speed=speed, gravity=inputs.gravity())

    def read(motion: MechanismMotion, column: str) -> Array:
        angle, spin = motion.orientation[:, 0], motion.spin[:, 0]
        known = {"th": angle, "th1": angle, "w": spin, "w1": spin, "x": L * np.cos(angle), "y": L * np.sin(angle)}
        return known_column(known, column, f"{', '.join(known)}, of the first crank and its end B0")

    columns = order_of(inputs, 1) if inputs.order else ("x", "y")
    return Recorded(mechanism=mechanism, read=read, columns=columns, vectors={"B0": ("x", "y")}, turning=True)


def andrews(inputs: Inputs) -> Recorded:
    names = {key.lower(): key for key in classics.ANDREWS}
    given = {}
    for key in [key for key in inputs.given if key.lower() in names]:
        given[names[key.lower()]] = inputs.number(key)
    every = {name.lower(): name for name in ANGLES} | {f"{name.lower()}dot": f"{name}dot" for name in ANGLES}

    def read(motion: MechanismMotion, column: str) -> Array:
        name = every.get(column.lower().replace("'", "dot").replace("_", ""), "")
        if not name:
            raise CaseError(f"column {column!r}: known are {', '.join(ANGLES)}, each with dot for its rate")
        rate = name.endswith("dot")
        table = classics.andrews_angles(motion.spin if rate else motion.orientation)
        return table[:, ANGLES.index(name.removesuffix("dot"))]

    columns = (*ANGLES, *(f"{name}dot" for name in ANGLES))
    if inputs.order:
        first = tuple(every.get(name.lower(), name) for name in order_of(inputs, 7))
        columns = first if len(first) != 7 else (*first, *(f"{name}dot" for name in first))
    return Recorded(
        mechanism=classics.andrews_mechanism(**given), read=read, columns=columns, turning=True, limit=ANDREWS_ANGLES,
    )  # fmt: skip


# --- in space -------------------------------------------------------------------------------------------

XYZ = ("x", "y", "z")


def top(inputs: Inputs) -> Recorded:
    """On its tip at the origin: moments A at the tip and C, m g l; axis at theta0 from the vertical, towards x."""
    A, C = inputs.number("A", "I1", "I_1", "Ix"), inputs.number("C", "I3", "I_3", "Iz")
    if inputs.any("mgl", "mgL", "Mgl"):
        m, weight = 1.0, inputs.number("mgl", "mgL", "Mgl")
        arm = (
            math.sqrt(A * min(0.25, 1.0 - 0.5 * C / A)) if C < 2.0 * A else 0.5 * math.sqrt(A)
        )  # with a C that bodies have
        g = weight / arm
    else:
        m, arm, g = inputs.number("m", "M", "mass"), inputs.number("l", "L", "d", "h"), inputs.gravity()
    tilts = inputs.angles("theta0", "theta", "th0", "th", "tilt")
    tilt = float(tilts[0]) if tilts is not None else inputs.words().get("theta", 0.0)
    total = inputs.number("w3", "omega3", "spin", "n")
    around = inputs.number("phidot", "phidot0", "Omega", otherwise=0.0)
    nod = inputs.number("thetadot", "thetadot0", otherwise=0.0)
    axis, line = np.array([math.sin(tilt), 0.0, math.cos(tilt)]), np.array([0.0, 1.0, 0.0])
    up = np.array([0.0, 0.0, 1.0])
    spin = total * axis + around * (up - (up @ axis) * axis) + nod * line
    side = A - m * arm * arm
    body = Link(position=arm * axis, velocity=np.cross(spin, arm * axis), spin=spin, mass=m, inertia=(side, side, C),
                orientation=(math.cos(tilt / 2), 0.0, math.sin(tilt / 2), 0.0))  # fmt: skip
    mechanism = Mechanism(links=(body,), joints=(ball(-1, 0, second_point=(0.0, 0.0, -arm)),), gravity=(0.0, 0.0, -g))

    def read(motion: MechanismMotion, column: str) -> Array:
        along, rate = motion.position[:, 0] / arm, motion.velocity[:, 0, 2] / arm
        known = dict(zip(XYZ, along.T)) | {"rate": rate, "u": along[:, 2], "theta": np.arccos(along[:, 2])}
        return known_column(known, column, "x, y, z of the axis, theta, u")

    return Recorded(mechanism=mechanism, read=read, columns=XYZ, vectors={"axis": XYZ}, height="rate",
                    moment=0.25 * A / (C * abs(total)) if total else math.sqrt(A / (m * g * arm)))  # fmt: skip


def free_body(inputs: Inputs) -> Recorded:
    """Turning freely: moments (3), spin (3) in the body's axes, which are the world's at the start."""
    moments = inputs.exactly("free body", 3, "I", "J", "inertia")
    spin = inputs.exactly("free body", 3, "w0", "omega0", "w", "omega")
    body = Link(position=(0.0, 0.0, 0.0), inertia=moments, spin=spin)

    def read(motion: MechanismMotion, column: str) -> Array:
        q = motion.orientation[:, 0]
        own = np.einsum("sij,si->sj", matrices(q), motion.spin[:, 0])
        known = dict(zip(("w1", "w2", "w3"), own.T)) | dict(zip(("qw", "qx", "qy", "qz"), q.T))
        return known_column(known, column)

    spins, turned = ("w1", "w2", "w3"), ("qw", "qx", "qy", "qz")
    return Recorded(
        mechanism=Mechanism(links=(body,), gravity=(0.0, 0.0, 0.0)), read=read, columns=(*spins, *turned),
        vectors={"w": spins, "omega": spins, "q": turned},
    )  # fmt: skip


def bowl(inputs: Inputs) -> Recorded:
    """A ball inside a hollow sphere, sliding (k = 0) or rolling (k = 2/5) with spin s about the line to the contact."""
    r = inputs.number("r", otherwise=0.25)
    outer = inputs.numbers("R", "R_b")
    L = float(outer[0]) - r if outer is not None else inputs.number("L", "l")
    k, s, g = inputs.number("k", otherwise=0.0), inputs.number("s", "spin", otherwise=0.0), inputs.gravity()
    angle = inputs.angles("theta0", "theta", "th0")
    out = inputs.numbers("e0", "e")
    if out is None:
        tilt = float(angle[0]) if angle is not None else inputs.words().get("theta", 1.0)
        out = np.array([math.sin(tilt), 0.0, -math.cos(tilt)])
    out = out / np.linalg.norm(out)
    around = inputs.number("phidot", "phidot0", otherwise=0.0) * math.hypot(out[0], out[1])
    rate = inputs.numbers("edot0", "e_dot0", "de0", "edot")
    rate = np.array([0.0, around, 0.0]) if rate is None else rate
    velocity = L * rate
    if k == 0.0:
        link, joint, ways = Link(position=L * out, velocity=velocity), Distance(first=-1, second=0, length=L), WAYS
    else:
        link = Link(position=L * out, velocity=velocity, inertia=k * r * r, spin=s * out - np.cross(out, velocity) / r)
        joint, ways = Rolling(link=0, semi_axes=r, inner_radius=L + r), WAYS[:1]
    mechanism = Mechanism(links=(link,), joints=(joint,), gravity=(0.0, 0.0, -g))

    def read(motion: MechanismMotion, column: str) -> Array:
        known = dict(zip(XYZ, motion.position[:, 0].T / L)) | {"rate": motion.velocity[:, 0, 2]}
        return known_column(known, column, "x, y, z of the way to the ball, of length 1")

    return Recorded(mechanism=mechanism, read=read, columns=XYZ, vectors={"e": XYZ}, ways=ways, height="rate",
                    moment=0.3 * math.sqrt(L / g))  # fmt: skip


def loop_of_six(inputs: Inputs) -> Recorded:
    """Bricard's linkage (IFToMM's A04): P1 ... P5 are the rods' ends, from the origin on; P3 where none is named."""
    length, mass = inputs.number("L", "l", "length", otherwise=1.0), inputs.number("m", "mass", otherwise=1.0)
    section = inputs.number("section", "width", "h", otherwise=0.1)
    mechanism = bricard(length=length, mass=mass, section=section, gravity=inputs.gravity())

    def read(motion: MechanismMotion, column: str) -> Array:
        found = re.fullmatch(r"([xyz])_?(?:p?([1-5]))?", column.lower())
        if not found:
            raise CaseError(f"column {column!r}: known are x, y, z of P3, and of P1 to P5 with the number")
        k = int(found[2] or 3) - 1
        along = matrices(motion.orientation[:, k])[:, :, 0]
        return (motion.position[:, k] + 0.5 * length * along)[:, XYZ.index(found[1])]

    vectors = {f"P{k}": tuple(f"{x}{k}" for x in XYZ) for k in range(1, 6)}
    return Recorded(mechanism=mechanism, read=read, columns=XYZ, vectors=vectors, ways=WAYS[:1])


def governor(inputs: Inputs) -> Recorded:
    """The stiff flyball governor (IFToMM's A05), as it stands there: height of the cube, angles of rods and shaft."""
    inputs.any("g", "gravity")

    def read(motion: MechanismMotion, column: str) -> Array:
        over = GOVERNOR["length"] - motion.position[:, 1, 2]
        arm = float(np.linalg.norm(mechanism.links[1].position - np.array([0.5 * GOVERNOR["cube"], 0.0, 1.0])))
        apart = motion.position[:, 1] - motion.position[:, 2]
        height = motion.position[:, 3, 2]
        known = {"z": height, "h": height, "height": height, "alpha": np.arcsin(over / arm),
                 "psi": np.arctan2(apart[:, 1], apart[:, 0]), "w": motion.spin[:, 0, 2]}  # fmt: skip
        return known_column(known, column.lower())

    mechanism = flyball_governor()
    return Recorded(mechanism=mechanism, read=read, columns=("z",), ways=WAYS[:1])


KINDS: tuple[tuple[Callable[[Inputs], Recorded], str, tuple[set[str], ...]], ...] = (
    (andrews, r"andrew|squeez|seven body|\ba03\b", ({"mom", "c0", "l0"},)),
    (windows, r"\bn four ?bar|\ba02\b", ()),
    (loop_of_six, r"bricard|\ba04\b", ()),
    (governor, r"governor|fly ?ball|\ba05\b", ()),
    (bars, r"four ?bar|4 ?bar|crank rocker", ()),
    (slider, r"slider|crank", ({"r", "l", "m"}, {"crank", "rod"})),
    (top, r"\btop\b|gyro", ({"a", "c", "mgl"}, {"i1", "i3"})),
    (free_body, r"free (rigid )?body|tumbl|torque free|euler top|dzhanibekov", ()),
    (bowl, r"bowl|hollow|spherical pendulum", ()),
    (falling, r"chimney|falling (rod|bar|stick|pencil)", ()),
    (physical, r"physical|compound", ({"i", "d"}, {"i", "d", "m"})),
    (chain, r"pendul|chain|rope|\ba01\b", ({"l"}, {"lengths"}, {"l1"}, {"length"})),
)
LINKAGES = {(4, 3): bars, (2, 3): slider}  # by lengths and masses
