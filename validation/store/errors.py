"""What a store cannot do, in one line that says where, what, and what to do."""

UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError, ArithmeticError)
"""What reading a value that is not what it should be may raise."""


class StoreError(RuntimeError):
    """A database that cannot be reached or used, or something asked for that is not in it."""


class DamagedError(StoreError):
    """A stored value that no command writes."""


class RolledBackError(StoreError):
    """Nothing of a transaction was done; it may be done again."""


class LostConnectionError(RolledBackError):
    """To a server, in the midst of a transaction, which is to be done again: see `connection.writing`."""


class LostFileError(StoreError):
    """The file was deleted while it was written to."""

    def __init__(self, words: str, saved: str = "") -> None:
        super().__init__(words)
        self.saved = saved  # path of the database that has what was stored; "": none has
