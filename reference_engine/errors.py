"""What can go wrong: one exception for each thing that a caller can act on."""


class ContactForceError(RuntimeError):
    """No forces f with 0 <= f  perp  A f + b >= 0 were found; the numbers say by how much it failed.

    `certificate`, if there is one, is y >= 0 with A y = 0 and b . y < 0: then no such forces exist.
    """

    def __init__(self, reason: str, *, residual: float, certificate: object = None) -> None:
        super().__init__(reason)
        self.residual = residual
        self.certificate = certificate


class DocumentedLimit(RuntimeError):  # noqa: N818  says what it is without the word
    """A limit that the engine's documents state (docs/fuzzing.md): it ends the motion, in place of going on wrongly."""

    proven = False  # whether each such error comes with a proof that no motion goes on; else the engine gives up


class WorldError(ValueError):
    """The world as given is not one that can be simulated: which field, which value, what is allowed."""


class UnresolvedContact(RuntimeError):  # noqa: N818  says what is wrong without the word
    """Time cannot go on: impacts have no end, bodies overlap, or time was backed up again and again."""

    def __init__(self, reason: str, *, time: float, bodies: tuple[str, str], gap: float) -> None:
        super().__init__(f"t = {time:.9g} s, bodies {bodies[0]!r} and {bodies[1]!r}, gap {gap:.3g} m: {reason}")
        self.time = time
        self.bodies = bodies
        self.gap = gap


class EndlessEventsError(UnresolvedContact, DocumentedLimit):
    """Impacts one after another without end, too many events, or forces that grow until no step is short enough."""


class WedgedError(UnresolvedContact, DocumentedLimit):
    """In space, bodies are struck that wedge one another at the very edge of their cones; no solver finds impulses."""


class IllDeterminedError(UnresolvedContact, DocumentedLimit):
    """In space, the last bits of the positions change the contact forces, beside a singular position: of two links side
    by side, say, that meet at the very height of their pins, where gaps are squares of angles."""

    def __init__(self, *, time: float, bodies: tuple[str, str], share: float) -> None:
        reason = f"the last bits of the positions change the contact forces by {share:.2g} of the largest"
        super().__init__(reason, time=time, bodies=bodies, gap=0.0)


class OrderOfImpactsError(UnresolvedContact, DocumentedLimit):
    """Several contacts that move one another are struck at once, and the law of impact says only what happens at one.

    Proven: the motion is left open. An order (`impact_order`) decides it.
    """

    proven = True

    def __init__(self, *, time: float, bodies: tuple[str, str], contacts: int, law: str) -> None:
        reason = f"{contacts} contacts are struck at once; what happens then the law {law!r} leaves open: name an order"
        super().__init__(reason, time=time, bodies=bodies, gap=0.0)


class SingularPositionError(ContactForceError, DocumentedLimit):
    """No contact forces, or impulses, exist because contacts and joints contradict one another, whatever friction does.

    Proven where `breach` is above 0; of impulses as far as a million times those that the speeds would ask for
    elsewhere. Their normals depend on each other: weights y (y >= 0 at contacts) give a sum of gaps that no force
    accelerates. Its acceleration would have to be 0 or more, and by the speeds it is not. Two links side by side that
    meet at the very height of their pins are such a case: impulses know speeds, not how gaps curve, and leave speeds
    that no motion has. Where normals depend on each other but for `own`, the share of one that the others do not give,
    forces that obey them are too large for the solver; that there are none is not proven then.
    """

    def __init__(
        self, *, time: float, bodies: tuple[str, str], breach: float, own: float = 0.0, of_forces: bool = True
    ) -> None:
        what, unit = ("contact forces", "m/s^2") if of_forces else ("impulses", "m/s")
        why = f"contradict one another by {breach:.3g} {unit} at least" if breach > 0.0 else (
            f"depend on one another but for a share of {own:.3g}"
        )  # fmt: skip
        super().__init__(
            f"t = {time:.9g} s, bodies {bodies[0]!r} and {bodies[1]!r} among others: no {what} "
            f"{'exist' if breach > 0.0 else 'found'} in a singular position: contacts and joints {why}",
            residual=breach,
        )
        self.time, self.bodies, self.breach, self.own, self.proven = time, bodies, breach, own, breach > 0.0


class PainleveError(ContactForceError, DocumentedLimit):
    """No contact forces exist because a contact slides with friction (Painleve 1895): proven. An impact would.

    A force f at the contact accelerates its gap by p f + b with p <= 0 and b < 0: pressing harder makes it go in
    faster.
    """

    proven = True

    def __init__(self, *, time: float, bodies: tuple[str, str], p: float, b: float) -> None:
        super().__init__(
            f"t = {time:.9g} s, bodies {bodies[0]!r} and {bodies[1]!r}: no contact forces exist where they slide with "
            f"friction: a force changes the acceleration of the gap by {p:.6g} 1/kg, {b:.6g} m/s^2 without it",
            residual=-b,
        )  # fmt: skip
        self.time, self.bodies, self.p, self.b = time, bodies, p, b


class MechanismError(ValueError):
    """A mechanism that cannot be simulated: the field, its value, what is allowed."""


class JointError(RuntimeError):
    """Joints that cannot be kept closed, or a step that does not come to within its tolerance; the numbers say it."""


class SingularJointsError(JointError, DocumentedLimit):
    """Joints that no small move closes: in a singular position, such as a chain that is held straight by both its ends.

    Not proven: by how much the ends are too far apart is below round-off there, and the bend that closes the chain, or
    the force that stretches it, is its square root.
    """

    def __init__(self, *, time: float, joint: int, gap: float) -> None:
        where = "in a singular position, as a chain that is pulled straight"
        super().__init__(f"t = {time:.9g} s: joints[{joint}] is open by {gap:.3e} m {where}: no small move closes it")
        self.time, self.joint, self.gap = time, joint, gap


class CompliantError(ValueError):
    """A world, or an argument, that the compliant engine cannot simulate; or a motion that it cannot go on with."""


class SpatialWorldError(ValueError):
    """A world that cannot be simulated: the field, its value, what is allowed."""


class UnresolvedStepError(RuntimeError):
    """A step that does not come to within the tolerances; the numbers say by how much it failed.

    The world is at the last time that was reached: the step's start, or the end of the last part that went well.
    """
