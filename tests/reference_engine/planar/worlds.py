"""Builders of the worlds that the planar tests share."""

import math

import numpy as np

from reference_engine import Body, Disc, HalfPlane, Motion, World, box
from reference_engine.compiler.structure import PackedStruct
from reference_engine.planar.layout import Model
from reference_engine.planar.model import model_in_numbers

GRAVITY = 9.81


def pack_model(world: World) -> Model:
    return PackedStruct(Model, model_in_numbers(world)).structure


def ground(name: str = "ground") -> Body:
    return Body(shape=HalfPlane(), fixed=True, name=name)


def left_wall() -> Body:
    return Body(shape=HalfPlane(), fixed=True, angle=-math.pi / 2, name="wall")


def upright_block(*, height: float, spin: float = 0.0) -> World:
    """The original's canonical scene: a 1 x 3 block on the ground, g = 5, e = 0.8."""
    block = Body(shape=box(1.0, 3.0), position=(0.0, height), spin=spin, name="block")
    return World(bodies=(ground(), block), gravity=(0.0, -5.0), restitution=0.8)


def rocking() -> World:
    return upright_block(height=1.507, spin=0.05)


def dropped(shape, *, restitution: float, height: float = 1.0, half: float = 0.5) -> World:
    """A body whose lowest point is `height` above the ground."""
    return World(bodies=(ground(), Body(shape=shape, position=(0.0, height + half))), restitution=restitution)


def stack(n: int, *, mass_ratio: float = 1.0) -> World:
    """Unit boxes of 1 kg at the bottom to `mass_ratio` kg at the top, each a little beside the one below."""
    offset = np.random.default_rng(1).normal(0.0, 1e-3, n)
    boxes = [
        Body(
            shape=box(1.0, 1.0),
            position=(offset[i], 0.5 + i),
            mass=mass_ratio ** (i / (n - 1)),
            name=f"box {i}",
        )
        for i in range(n)
    ]
    return World(bodies=(ground(), *boxes), restitution=0.0)


def cradle(n: int, *, restitution: float, apart: float = 0.01, speed: float = 1.0) -> World:
    """n equal discs in a row; the first moves."""
    discs = [
        Body(shape=Disc(0.5), position=(i * (1.0 + apart), 0.0), velocity=(speed if i == 0 else 0.0, 0.0))
        for i in range(n)
    ]
    return World(bodies=tuple(discs), gravity=(0.0, 0.0), restitution=restitution)


def heap(seed: int) -> World:
    """Boxes, pentagons and discs above one another between two walls; mass ratios up to 1000."""
    draw = np.random.default_rng(seed)
    bodies = [ground(), left_wall(), Body(shape=HalfPlane(), fixed=True, angle=math.pi / 2, position=(3.0, 0.0))]
    top = 0.0
    for _ in range(int(draw.integers(2, 8))):
        size = draw.uniform(0.2, 0.6)
        radius = size / 2.0
        shape = Disc(radius)
        if draw.random() < 0.6:
            shape, radius = box(size, 0.6 * size), 0.6 * size
        top += radius + 0.006
        bodies.append(
            Body(
                shape=shape,
                position=(draw.uniform(0.9, 2.1), top),
                angle=draw.choice([0.0, draw.uniform(0.0, 6.0)]),
                velocity=tuple(draw.normal(0.0, 0.7, 2)),
                mass=10.0 ** draw.uniform(-1.5, 1.5),
            )
        )
        top += radius
    return World(bodies=tuple(bodies), restitution=float(draw.choice([0.0, 0.2, 0.5, 0.8])))


def energy_gained(energy: np.ndarray) -> float:
    """The most that the energy rises above an earlier minimum."""
    return float((energy - np.minimum.accumulate(energy)).max())


def face_forces(motion: Motion, below: int, above: int) -> np.ndarray:
    """Sum of the vertical contact forces between two bodies at every sample [N]."""
    contacts, total = motion.contacts, np.zeros(len(motion.time))
    sample = np.repeat(np.arange(len(motion.time)), np.diff(motion.first_contact))
    between = (contacts.pair.min(axis=1) == below) & (contacts.pair.max(axis=1) == above)
    np.add.at(total, sample[between], np.abs(contacts.force[between] * contacts.normal[between, 1]))
    return total
