"""Errors of queries."""

_MAX_QUOTED_LENGTH = 40  # characters of a piece that a sentence shows


class BadQuery(ValueError):
    """A query that cannot be parsed: a sentence for its author, and the place.

    >>> str(BadQuery("There is nothing before {sign} at character {place}.", 3, "OR", sign="OR"))
    'There is nothing before OR at character 4.'
    """

    def __init__(self, sentence: str, at: int, piece: str, **values: str | int) -> None:
        self.sentence = sentence  # with names in braces for the values
        self.values: dict[str, str | int] = {"place": f"{at + 1:,}", **values}
        super().__init__(sentence.format(**self.values))
        self.at = at  # characters of the query before the piece
        self.piece = piece  # as written; empty at the end of the query


def shortened(piece: str) -> str:
    """A piece, shortened for quotation."""
    return piece if len(piece) <= _MAX_QUOTED_LENGTH else piece[:_MAX_QUOTED_LENGTH] + "…"
