class CompliantError(ValueError):
    """A world, or an argument, that the compliant engine cannot simulate; or a motion that it cannot go on with."""
