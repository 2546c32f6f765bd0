"""What a database cannot take of what people send."""


def sanitize(text: str) -> str:
    """Without zero bytes and halves of characters.

    >>> sanitize("a\\x00b\\ud800")
    'ab'
    """
    return text.encode("utf-8", "ignore").decode().replace("\x00", "")
