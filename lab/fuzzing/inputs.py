"""Inputs made from others: hypothesis chooses the edits, and an input with a finding is made as short as it can be."""

from collections.abc import Callable, Sequence
from random import Random

from hypothesis import strategies as st

MAX_INPUT = 20_000  # bytes
MAX_EDITS = 6
MAX_ATTEMPTS = 2_000  # to shorten one input
_INTERESTING = (b"\0", b"\xff", b"\x7f", b"\n", b"\r\n", b"0", b"-1", b"9" * 20, "\ufeff".encode(), "\u202e".encode())


@st.composite
def edited(draw: st.DrawFn, corpus: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    """One of the corpus with a few parts deleted, repeated, replaced, or taken from another.

    Hypothesis draws the unusual characters; each further draw would take as long as reading a small input.
    """
    unusual = draw(st.text(max_size=8).map(lambda text: text.encode()) | st.binary(max_size=8))
    chance = Random(draw(st.integers(0, 2**64 - 1)))
    content = chance.choice(corpus)
    for _ in range(chance.randint(1, MAX_EDITS)):
        start = chance.randint(0, len(content))
        end = min(len(content), start + chance.choice((chance.randint(0, 16), chance.randint(0, len(content)))))
        new = chance.choice((unusual, chance.choice([*words, *_INTERESTING])))
        match chance.randrange(5):
            case 0:
                part = b""
            case 1:
                part = content[start:end] * chance.randint(2, 40)
            case 2:
                other = chance.choice(corpus)
                begin = chance.randint(0, len(other))
                part = other[begin : begin + chance.randint(0, 200)]
            case 3:
                part = new + content[start:end]
            case _:
                part = new
        content = (content[:start] + part + content[end:])[:MAX_INPUT]
    return content


def shortened(content: bytes, still_fails: Callable[[bytes], bool]) -> bytes:
    """As little of an input as still fails in the same way.

    >>> shortened(b"some words with a bug in them", lambda content: b"bug" in content)
    b'bug'
    """
    attempts, size = 0, len(content) // 2
    while size and attempts < MAX_ATTEMPTS:
        place, before = 0, len(content)
        while place < len(content) and attempts < MAX_ATTEMPTS:
            attempts += 1
            candidate = content[:place] + content[place + size :]
            if still_fails(candidate):
                content = candidate
            else:
                place += size
        size = size // 2 if len(content) == before else min(size, len(content))
    return content
