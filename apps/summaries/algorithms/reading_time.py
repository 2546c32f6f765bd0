"""Reading time of texts."""

from apps.summaries.algorithms.texts import length_in_words

WORDS_PER_MINUTE = 238  # English, read silently


def reading_minutes(text: str, characters: int = 0) -> int:
    """Whole minutes that an adult takes to read a text silently, in any script.

    Texts in scripts without spaces count a word for every 1.8 characters, which makes 428 characters a minute.

    Parameters
    ----------
    text : str
        The text without markup, or its beginning.
    characters : int
        Length of the whole text, of which the rest is taken to be as the beginning is; 0 if `text` is the whole.

    Returns
    -------
    minutes : int
        Rounded; 0 for what is read within half a minute.

    References
    ----------
    .. [1] M. Brysbaert, "How many words do we read per minute? A review and meta-analysis of reading rate", Journal of
       Memory and Language 109, 2019: 238 words a minute for English that is not fiction.

    Examples
    --------
    >>> reading_minutes("Ships sailed. " * 500), reading_minutes("总理访问柏林。" * 200), reading_minutes("A teaser.")
    (4, 3, 0)
    >>> reading_minutes("Ships sailed. ", 7_000)
    4
    """
    if not text:
        return 0
    words = length_in_words(text) * max(characters / len(text), 1.0)
    return int(words / WORDS_PER_MINUTE + 0.5)
