"""Numbers in addresses and forms."""

MAX_NUMBER = 2**63 - 1  # of a bigint


def whole_number(text: str, limit: int = MAX_NUMBER) -> int | None:
    """The number that a text of ASCII digits stands for; None for other texts, and above the limit.

    >>> whole_number("42"), whole_number("42", 9), whole_number("-1"), whole_number("٣"), whole_number("9" * 5_000)
    (42, None, None, None, None)
    """
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else None
    return number if number is not None and number <= limit else None
