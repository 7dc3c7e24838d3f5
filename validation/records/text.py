"""Text from elsewhere on one line: an engine's own words may be of any length and hold anything."""

LONGEST = 2000  # characters of a reason; what is cut off shows nobody more
UNKNOWN = "\N{REPLACEMENT CHARACTER}"


def one_line(text: str, longest: int | None = None) -> str:
    """Without line breaks, and without what moves a terminal's cursor or cannot be printed."""
    if longest is not None and len(text) > longest:
        text = text[: longest - 1] + "…"
    return printable(" ".join(text.split()))


def printable(text: str) -> str:
    """Spaces as they are."""
    return "".join(c if c.isprintable() else UNKNOWN for c in text)
