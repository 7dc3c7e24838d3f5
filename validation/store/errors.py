"""What a store cannot do, in one line that says where, what, and what to do."""


class StoreError(RuntimeError):
    """A database that cannot be reached or used, or something asked for that is not in it."""
