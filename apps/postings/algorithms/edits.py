"""Edits that a reader sees, as opposed to other changes of an entry."""

import re
from hashlib import blake2b

# Pairs of a typesetter's character and the typewriter's: publishers switch between them without an edit.
_TYPEWRITTEN = str.maketrans({
    "‘": "'", "’": "'", "‚": "'", "‛": "'", "′": "'", "“": '"', "”": '"', "„": '"', "‟": '"', "″": '"',
    "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "―": "-", "−": "-", "…": "...",
})  # fmt: skip
_UNSEEN = re.compile(r"[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe0e\ufe0f\ufeff]+")


def text_hash(title: str, text: str) -> bytes:
    """16 bytes that are equal for two versions of a posting if a reader would see the same words.

    Takes plain text, as `markup.clean` makes it, so that pixels, tracking parameters and other changes of markup have
    no part in it. White space, invisible characters and the shape of quotes and dashes do not count either.

    >>> text_hash("It’s  here", "One –\\n\\ntwo") == text_hash("It's here", "One - two")
    True
    >>> text_hash("Rates fall", "by 5 %") == text_hash("Rates fall", "by -5 %")
    False
    """
    seen = "\0".join(_UNSEEN.sub("", part.translate(_TYPEWRITTEN)) for part in (title, text))
    return blake2b(seen.encode("utf-8", "surrogatepass"), digest_size=16, person=b"text").digest()
