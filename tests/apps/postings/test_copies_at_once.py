"""Copies that several transactions store at the same moment, none of which sees the others."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest
from django.db import connection, transaction

from apps.postings.actions import Document, store
from apps.postings.models import Posting
from apps.sources.formats.feed import ParsedEntry
from apps.sources.models import Source
from tests.apps.postings.test_duplicates import AGENCY, NOON, OTHER
from tests.builders import a_source

TEXTS = (AGENCY, f"{AGENCY} More on this at noon.", OTHER)

pytestmark = pytest.mark.django_db(transaction=True)


def store_at_once(sources: Sequence[Source], ends: Sequence[int]) -> None:
    """Store a text by each source, all before the first transaction ends; they end in the order `ends`."""
    begun, over = [Event() for _ in sources], [Event() for _ in sources]
    stored = Barrier(len(sources))

    def store_one(number: int) -> None:
        entry = ParsedEntry(
            guid="1", link="", title=f"Title {number}", content=f"<p>{TEXTS[number]}</p>", published=NOON
        )
        try:
            with transaction.atomic():
                if number:
                    begun[number - 1].wait(60)  # ids ascend
                store([Document(sources[number].pk, [entry], "", "", "en", NOON)])
                begun[number].set()
                stored.wait(60)
                if place := ends.index(number):
                    over[ends[place - 1]].wait(60)
        finally:
            over[number].set()
            connection.close()

    with ThreadPoolExecutor(len(sources)) as pool:
        list(pool.map(store_one, range(len(sources))))


@pytest.mark.parametrize("ends", [(0, 1, 2), (1, 0, 2), (2, 1, 0)])
def test_copies_in_other_words_are_folded_whichever_transaction_ends_first(ends):
    sources = [a_source() for _ in TEXTS]
    store_at_once(sources, ends)
    first, copy, other = Posting.objects.order_by("pk")
    assert copy.fold_key == first.fold_key != other.fold_key
    assert (first.first_copy, copy.first_copy, other.first_copy) == (first.pk, first.pk, None)
