"""What may be wrong with an archive, with the place where it is."""


class BadArchive(ValueError):
    """Nothing of an archive can be taken over; the message says what is wrong, and where."""

    def __init__(self, reason: str, member: str = "", line: int = 0) -> None:
        place = ", ".join(filter(None, (member, f"line {line}" if line else "")))
        super().__init__(f"{place}: {reason}" if place else reason)
        self.member = member
        self.line = line
