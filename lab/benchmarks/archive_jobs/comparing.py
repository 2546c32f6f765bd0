"""Digests of the archive by posting, to compare two ways of computing it."""

from collections.abc import Mapping
from hashlib import blake2b

import numpy as np
from django.db import connection

from apps.database.statements import fetch

READ_AT_ONCE = 10_000  # rows

Digests = Mapping[int, bytes]  # of each posting


def of_documents(first: int = 0) -> Digests:
    """What live documents of the index say, from a number on; by the words themselves, whose numbers may differ."""
    words = np.zeros(1 + fetch("SELECT coalesce(max(id), 0) FROM search_term")[0][0], np.uint64)
    for number, word in fetch("SELECT id, term FROM search_term"):
        words[number] = int.from_bytes(blake2b(word.encode(), digest_size=8).digest())
    found, after = {}, first - 1
    while rows := fetch(
        "SELECT number, posting_id, text_hash, language, title_length,"
        " sequence, pairs, names FROM search_document WHERE NOT dead AND number > %s ORDER BY number LIMIT %s",
        [after, READ_AT_ONCE],
    ):
        for _, posting_id, text_hash, language, title_length, *parts in rows:
            digest = blake2b(b"%b %b %d" % (text_hash, language.encode(), title_length), digest_size=16)
            for part in parts:
                numbers = np.frombuffer(part, "<i4")
                digest.update(np.sign(numbers).astype(np.int8).tobytes() + words[np.abs(numbers)].tobytes() + b"|")
            found[posting_id] = digest.digest()
        after = rows[-1][0]
    return found


def next_document() -> int:
    """The number from which on all documents will be new ones."""
    return int(fetch("SELECT next_document FROM search_head")[0][0])


def blank_texts() -> None:
    """Delete the texts of postings, so that a page that is not read again shows."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE postings_posting SET html = '', text = '', text_hash = '' WHERE document <> ''")


def of_texts() -> Digests:
    """What postings say whose pages were kept."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, decode(md5(concat_ws('|', title, html, text, text_hash, author, language, document,"
            " extractor)), 'hex') FROM postings_posting WHERE document <> ''"
        )
        return {id: bytes(digest) for id, digest in cursor.fetchall()}


def differing(some: Digests, others: Digests) -> int:
    """Postings that only one of the two has, or that differ."""
    return sum(some.get(id) != others.get(id) for id in some.keys() | others.keys())
