"""Errors in archives, with their place."""


class BadArchive(ValueError):
    """An archive cannot be imported; the message says why, and where."""

    def __init__(self, reason: str, member: str = "", line: int = 0) -> None:
        place = ", ".join(filter(None, (member, f"line {line}" if line else "")))
        super().__init__(f"{place}: {reason}" if place else reason)
