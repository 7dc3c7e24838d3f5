"""Stories to begin with: each a setup that shows something, and what to look for in it."""

from dataclasses import dataclass

from validation.tools.playground.setup import Setup


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    name: str
    title: str
    text: str
    setup: Setup


PRESETS = (
    Preset(
        name="pull",
        title="Pull a block out of a stack",
        text="Six boxes stand on the floor. Press Run, then drag a box: a rubber band pulls where you took hold of it. "
        "Every engine gets the same pull at the same times. Rewind, and pull less.",
        setup=Setup(scenario="stack:n=6", engines=("reference", "pymunk", "mujoco")),
    ),
    Preset(
        name="extra-acceleration",
        title="Why extra acceleration",
        text="Contact forces alone take away acceleration, not speed. So a block that falls onto its base goes on "
        "falling, slowly, until it collides, again and again: it hops from corner to corner (left; count the impacts). "
        "With an extra acceleration the contact force also takes the speed that is left, and the block comes to rest "
        "(right).",
        setup=Setup(
            scenario="upright-block:start=rock",
            engines=("contactsim:extra_acceleration=none", "contactsim", "reference"),
        ),
    ),
    Preset(
        name="cone",
        title="Why friction is a cone",
        text="A ball is thrown aslant, with spin. Friction acts against the slip in any direction: all forces that it "
        "can have fill a round cone. An engine that takes a pyramid in place of the cone has too much or too "
        "little friction between the axes, and its ball ends elsewhere.",
        setup=Setup(
            scenario="thrown-sphere",
            engines=("reference", "mujoco:cone=elliptic", "mujoco:cone=pyramidal"),
        ),
    ),
    Preset(
        name="energy",
        title="Where time steps lose energy",
        text="Nothing takes energy from this pendulum, so its energy below is a flat line in the exact motion. An "
        "engine that steps adds a little error with each step. Make the time step longer, and see how much it loses "
        "or gains.",
        setup=Setup(scenario="double-pendulum", engines=("reference", "pymunk", "box2d", "mujoco"), dt=1.0 / 120.0),
    ),
    Preset(
        name="heavy-on-light",
        title="Twenty blocks, the top one a thousand times as heavy",
        text="A heavy block on light ones is the hardest stack for a solver that goes from contact to contact: each "
        "sweep passes on only a part of the load. The exact forces carry it for ever. Give an engine more "
        "iterations, and see for how long it stands.",
        setup=Setup(scenario="stack:n=20,mass_ratio=1000", engines=("reference", "pymunk", "box2d", "mujoco")),
    ),
    Preset(
        name="elastic",
        title="How contact feels when it is elastic",
        text="These balls give way as real ones do, by the law of Hertz. An impact takes time: in a row of balls that "
        "almost touch several are in contact at once, and more than one flies off at the end. Widen the gap: then each "
        "impact is over before the next.",
        setup=Setup(scenario="compliant-cradle", engines=("reference",)),
    ),
    Preset(
        name="bounce",
        title="When a ball stops bouncing",
        text="Each bounce has nine tenths of the speed of the one before. There are infinitely many, and they end at a "
        "finite time, which the exact motion finds. Engines with time steps stop too early or too late.",
        setup=Setup(scenario="bouncing-ball:restitution=0.8", engines=("reference", "pymunk", "box2d", "pybullet")),
    ),
)
