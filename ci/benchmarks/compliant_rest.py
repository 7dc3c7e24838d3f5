"""Whether balls and boxes of everyday sizes and materials come to rest in elastic contact, by default settings.

    python ci/benchmarks/compliant_rest.py [--count 200] [--seed 1] [--seconds 40]

Each is dropped from 1 to 50 cm on a floor of its own material: balls with a side speed and a spin, boxes turned at
random. At rest a ball is (m g / c)^(2/3) deep; each corner of a box that lies on a face (m g / 4 c)^(2/3), as each
carries a quarter. `--seconds`: how long a body may take to come within 1e-12 m of that; rolling may go on. Exit 1
where one does not, or ends in an error.
"""

import argparse
import sys
import time

import numpy as np
from rich.progress import track

from reference_engine import CompliantBody, CompliantWorld, Material, Materials, PairLaw, simulate_compliant
from reference_engine.errors import CompliantError
from reference_engine.geometry.spatial_shapes import Box, HalfSpace, Sphere

# Young's modulus [Pa], Poisson's ratio, density [kg/m^3]: usual values of handbooks
MATERIALS = {
    "steel": (2.0e11, 0.30, 7850.0), "aluminium": (7.0e10, 0.33, 2700.0), "glass": (7.0e10, 0.22, 2500.0),
    "concrete": (3.0e10, 0.20, 2400.0), "wood": (1.0e10, 0.30, 700.0), "ice": (9.0e9, 0.33, 917.0),
    "plastic": (2.5e9, 0.37, 1050.0), "hard rubber": (1.0e8, 0.48, 1200.0), "rubber": (5.0e6, 0.49, 1100.0),
}  # fmt: skip
GRAVITY = 9.81
CLOSE = 1e-12  # m


def case(rng: np.random.Generator) -> tuple[str, CompliantWorld, float]:
    """What it is, its world, and how deep it is at rest [m]."""
    name = str(rng.choice(list(MATERIALS)))
    modulus, poisson, density = MATERIALS[name]
    law = PairLaw(
        restitution=float(rng.uniform(0.1, 0.9)),
        sliding_friction=float(rng.uniform(0.1, 0.9)),
        rolling_resistance=float(10.0 ** rng.uniform(-3.0, -1.5)),
    )
    table = Materials(
        materials={name: Material(young_modulus=modulus, poisson_ratio=poisson)}, pairs={(name, name): law}
    )
    size, drop = float(10.0 ** rng.uniform(-2.3, -0.3)), float(10.0 ** rng.uniform(-2.0, -0.3))  # m
    if rng.random() < 0.5:
        mass, shares, contact_radius = density * 4.0 / 3.0 * np.pi * size**3, 1, size
        velocity, spin = (float(rng.uniform(-0.2, 0.2)), 0.0, 0.0), tuple(rng.uniform(-2.0, 2.0, 3))
        body = CompliantBody(
            shape=Sphere(size), material=name, position=(0.0, 0.0, size + drop), velocity=velocity, spin=spin, mass=mass
        )  # fmt: skip
    else:
        half = size * rng.uniform(0.5, 1.0, 3)
        mass, shares, contact_radius = density * 8.0 * float(half.prod()), 4, 0.1 * size
        q = rng.normal(size=4)
        height, turned = float(np.linalg.norm(half)) + drop, tuple(q / np.linalg.norm(q))
        body = CompliantBody(
            shape=Box(tuple(half)), material=name, position=(0.0, 0.0, height), orientation=turned, mass=mass,
            contact_radius=contact_radius,
        )  # fmt: skip
    floor = CompliantBody(shape=HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), material=name, fixed=True)
    plane_modulus = modulus / (1.0 - poisson**2)
    c = 4.0 / 3.0 * np.sqrt(contact_radius) * plane_modulus / 2.0
    kind = "ball" if shares == 1 else "box"
    text = f"{kind} of {name}, {1e3 * size:.0f} mm, {mass:.3g} kg, dropped {100 * drop:.0f} cm"
    world = CompliantWorld(bodies=(body, floor), materials=table, gravity=(0.0, 0.0, -GRAVITY))
    return text, world, float((mass * GRAVITY / (shares * c)) ** (2.0 / 3.0))


def depths(world: CompliantWorld, seconds: float) -> tuple[float, float, np.ndarray]:
    """The least and greatest depth [m] of what touches at the end, and the energies' imbalance over the first."""
    motion = simulate_compliant(world, np.linspace(0.0, seconds, 101))
    last = motion.contacts.gap[motion.first_contact[-2] :]
    scale = motion.kinetic[0] + motion.potential[0]
    return float(-last.max(initial=-np.inf)), float(-last.min(initial=np.inf)), np.abs(motion.imbalance).max() / scale


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--count", type=int, default=200)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--seconds", type=float, default=40.0)
    given = arguments.parse_args()
    rng = np.random.default_rng(given.seed)
    missed, worst, imbalance, began = 0, 0.0, 0.0, time.perf_counter()
    for _ in track(range(given.count), description="to rest"):
        text, world, depth = case(rng)
        seconds = 2.5
        try:
            while True:
                least, most, off = depths(world, seconds)
                error = max(abs(least - depth), abs(most - depth))
                if error <= CLOSE or seconds >= given.seconds:
                    break
                seconds *= 2.0
        except CompliantError as failed:
            missed += 1
            print(f"{text}: {failed}")
            continue
        imbalance = max(imbalance, float(off))
        if error > CLOSE:
            missed += 1
            print(f"{text}: {error:.1e} m from its depth of rest, {depth:.3g} m, after {seconds:g} s")
        else:
            worst = max(worst, error)
    took = time.perf_counter() - began
    print(
        f"{given.count - missed} of {given.count} at rest within {CLOSE:g} m of the closed form (worst {worst:.1e} m), "
        f"energies balanced to {imbalance:.1e} of what there was; {took:.0f} s"
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
