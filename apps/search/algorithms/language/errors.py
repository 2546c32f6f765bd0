"""What is said of a query that cannot be read."""

_LONGEST_QUOTED = 40  # characters of a piece that a sentence shows


class BadQuery(ValueError):
    """A query that cannot be read: a sentence for whoever wrote it, and the place."""

    def __init__(self, message: str, at: int, piece: str) -> None:
        super().__init__(message)
        self.at = at  # characters of the query before the piece
        self.piece = piece  # as it was written; empty where the trouble is that the query ends


def place(at: int) -> str:
    """A place as people count it.

    >>> place(0)
    'character 1'
    """
    return f"character {at + 1:,}"


def shortened(piece: str) -> str:
    """A piece as a sentence can quote it."""
    return piece if len(piece) <= _LONGEST_QUOTED else piece[:_LONGEST_QUOTED] + "…"
