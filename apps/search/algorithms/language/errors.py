"""What is said of a query that cannot be read."""

_MAX_QUOTED_LENGTH = 40  # characters of a piece that a sentence shows


def gettext_noop(text: str) -> str:
    """Mark a sentence for who translates; whoever shows it looks for its translation."""
    return text


class BadQuery(ValueError):
    """A query that cannot be read: a sentence for whoever wrote it, and the place.

    >>> str(BadQuery("There is nothing before {sign} at character {place}.", 3, "OR", sign="OR"))
    'There is nothing before OR at character 4.'
    """

    def __init__(self, sentence: str, at: int, piece: str, **values: str | int) -> None:
        self.sentence = sentence  # with names in braces for the values
        self.values: dict[str, str | int] = {"place": f"{at + 1:,}", **values}
        super().__init__(sentence.format(**self.values))
        self.at = at  # characters of the query before the piece
        self.piece = piece  # as it was written; empty where the trouble is that the query ends


def shortened(piece: str) -> str:
    """A piece as a sentence can quote it."""
    return piece if len(piece) <= _MAX_QUOTED_LENGTH else piece[:_MAX_QUOTED_LENGTH] + "…"
