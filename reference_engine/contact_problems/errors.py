"""The error of contact forces that are not to be had."""


class ContactForceError(RuntimeError):
    """No forces f with 0 <= f  perp  A f + b >= 0 were found; the numbers say by how much it failed.

    `certificate`, if there is one, is y >= 0 with A y = 0 and b . y < 0: then no such forces exist.
    """

    def __init__(self, reason: str, *, residual: float, certificate: object = None) -> None:
        super().__init__(reason)
        self.residual = residual
        self.certificate = certificate
