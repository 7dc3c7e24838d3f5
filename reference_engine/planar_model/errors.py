"""What can go wrong, one exception for each thing a caller can act on."""

from reference_engine.contact_problems.errors import ContactForceError as ContactForceError


class WorldError(ValueError):
    """The world as given is not one that can be simulated: which field, which value, what is allowed."""


class UnresolvedContact(RuntimeError):  # noqa: N818  says what is wrong without the word
    """Time cannot go on: impacts have no end, bodies overlap, or time was backed up again and again."""

    def __init__(self, reason: str, *, time: float, bodies: tuple[str, str], gap: float) -> None:
        super().__init__(f"t = {time:.9g} s, bodies {bodies[0]!r} and {bodies[1]!r}, gap {gap:.3g} m: {reason}")
        self.time = time
        self.bodies = bodies
        self.gap = gap


class PainleveError(ContactForceError):
    """No contact forces exist because a contact slides with friction (Painleve 1895); an impact without approach would.

    A force f at the contact accelerates its gap by p f + b with p <= 0 and b < 0: pressing harder makes it go in
    faster.
    """

    def __init__(self, *, time: float, bodies: tuple[str, str], p: float, b: float) -> None:
        super().__init__(
            f"t = {time:.9g} s, bodies {bodies[0]!r} and {bodies[1]!r}: no contact forces exist where they slide with "
            f"friction: a force changes the acceleration of the gap by {p:.6g} 1/kg, {b:.6g} m/s^2 without it",
            residual=-b,
        )  # fmt: skip
        self.time, self.bodies, self.p, self.b = time, bodies, p, b
