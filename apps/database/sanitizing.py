"""Characters in user input that Postgres cannot store."""


def sanitize(text: str) -> str:
    """Remove zero bytes and lone surrogates.

    >>> sanitize("a\\x00b\\ud800")
    'ab'
    """
    return text.encode("utf-8", "ignore").decode().replace("\x00", "")
