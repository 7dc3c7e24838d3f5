"""What can go wrong, one exception for each thing a caller can act on."""


class WorldError(ValueError):
    """The world as given is not one that can be simulated: which field, which value, what is allowed."""


class UnresolvedContact(RuntimeError):  # noqa: N818
    """Time cannot go on: a collision was not resolved although time was backed up again and again."""

    def __init__(self, reason: str, *, time: float, bodies: tuple[str, str], gap: float) -> None:
        super().__init__(f"t = {time:.9g} s, bodies {bodies[0]!r} and {bodies[1]!r}, gap {gap:.3g} m: {reason}")
        self.time = time
        self.bodies = bodies
        self.gap = gap


class ContactForceError(RuntimeError):
    """No forces f with 0 <= f  perp  A f + b >= 0 were found; the figures say by how much it failed.

    `certificate`, if there is one, is y >= 0 with A y = 0 and b . y < 0: then no such forces exist.
    """

    def __init__(self, reason: str, *, residual: float, certificate: object = None) -> None:
        super().__init__(reason)
        self.residual = residual
        self.certificate = certificate
