"""Copies that several transactions store at the same moment, none of which sees the others."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier, Event

import pytest
from django.db import connection, transaction

from apps.postings.actions import Document, duplicates, store
from apps.postings.models import Posting
from apps.sources.formats.feed import ParsedEntry
from apps.sources.models import Source
from tests.apps.postings.test_duplicates import AGENCY, NOON, OTHER
from tests.builders import a_source

AT_NOON, AT_NIGHT = f"{AGENCY} More on this at noon.", f"{AGENCY} And more on this at night."

pytestmark = pytest.mark.django_db(transaction=True)


def store_texts(sources: Sequence[Source], texts: Sequence[str], *, hours: Sequence[float] = ()) -> None:
    """Store a text by each source in one transaction."""
    store(
        [
            Document(
                source.pk,
                [
                    ParsedEntry(
                        guid="1", link="", title=f"Title {source.pk}", content=f"<p>{text}</p>",
                        published=NOON + timedelta(hours=later),
                    )
                ],
                "", "", "en", NOON + timedelta(hours=later),
            )
            for source, text, later in zip(sources, texts, hours or [0] * len(texts), strict=True)
        ]
    )  # fmt: skip


def store_at_once(batches: Sequence[Sequence[str]], ends: Sequence[int]) -> None:
    """Store each batch of texts in a transaction, all before the first of them ends; they end in the order `ends`."""
    sources = [[a_source() for _ in texts] for texts in batches]
    begun, over = [Event() for _ in batches], [Event() for _ in batches]
    stored = Barrier(len(batches))

    def store_batch(number: int) -> None:
        try:
            with transaction.atomic():
                if number:
                    begun[number - 1].wait(60)  # ids ascend
                store_texts(sources[number], batches[number])
                begun[number].set()
                stored.wait(60)
                if place := ends.index(number):
                    over[ends[place - 1]].wait(60)
        finally:
            over[number].set()
            connection.close()

    with ThreadPoolExecutor(len(batches)) as pool:
        list(pool.map(store_batch, range(len(batches))))


@pytest.mark.parametrize("ends", [(0, 1, 2), (1, 0, 2), (2, 1, 0)])
def test_copies_in_other_words_are_folded_whichever_transaction_ends_first(ends):
    store_at_once([[text] for text in (AGENCY, AT_NOON, OTHER)], ends)
    first, copy, other = Posting.objects.order_by("pk")
    assert copy.fold_key == first.fold_key != other.fold_key
    assert (first.first_copy, copy.first_copy, other.first_copy) == (first.pk, first.pk, None)


@pytest.mark.parametrize("batches", [[[AGENCY], [AT_NOON, AT_NIGHT]], [[AGENCY, AT_NOON], [AT_NIGHT]]])
@pytest.mark.parametrize("ends", [(0, 1), (1, 0)])
def test_copies_that_were_stored_together_stay_together(batches, ends):
    store_at_once(batches, ends)
    assert Posting.objects.values("fold_key").distinct().count() == 1
    [first] = Posting.objects.values_list("first_copy", flat=True).distinct()
    assert Posting.objects.filter(pk=first).exists()  # of those that readers saw first


def store_while_open(first: Callable[[], None], then: Callable[[], None]) -> None:
    """Do the second while the transaction of the first is open."""
    stored, others_over = Event(), Event()

    def store_first() -> None:
        try:
            with transaction.atomic():
                first()
                stored.set()
                others_over.wait(60)
        finally:
            stored.set()
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        open_transaction = pool.submit(store_first)
        stored.wait(60)
        then()
        others_over.set()
        open_transaction.result(60)


def keys() -> set[int]:
    return set(Posting.objects.values_list("fold_key", flat=True))


def test_what_was_folded_with_a_posting_follows_it_to_an_older_copy():
    older, *newer = (a_source() for _ in range(4))

    def store_chain() -> None:  # each near in time to the one before it
        for source, text, hours in zip(newer, (AT_NOON, AT_NOON, AT_NOON), (40, 80, 120), strict=True):
            store_texts([source], [text], hours=[hours])

    store_while_open(lambda: store_texts([older], [AGENCY]), store_chain)
    assert len(keys()) == 1


def test_a_copy_that_ended_first_comes_along_to_the_copy_of_a_posting_that_has_one():
    first, open_one, last = (a_source() for _ in range(3))
    store_texts([first], [AGENCY])
    store_while_open(
        lambda: store_texts([open_one], [AT_NOON], hours=[40]), lambda: store_texts([last], [AT_NIGHT], hours=[70])
    )
    assert len(keys()) == 1


@pytest.mark.parametrize("texts", [(f"<p>{AGENCY}</p>", ""), ("", f"<p>{AGENCY}</p>"), (f"<p>{AGENCY}</p>", "", "")])
def test_one_page_with_a_text_and_without_is_folded(texts):
    sources = [a_source() for _ in texts]

    def store_link(number: int) -> None:
        link = "https://paper.example/storm"
        entry = ParsedEntry(guid="1", link=link, title="Storm", content=texts[number], published=NOON)
        store([Document(sources[number].pk, [entry], "", "", "en", NOON)])

    store_while_open(lambda: store_link(0), lambda: [store_link(number) for number in range(1, len(texts))])
    assert len(keys()) == 1


def test_of_postings_stored_one_after_the_other_none_is_folded_again(monkeypatch):
    again, changed = duplicates._fold_again, []
    monkeypatch.setattr(duplicates, "_fold_again", lambda stored: changed.append(again(stored)) or changed[-1])
    for number in range(8):  # in which order copies are found depends on the words
        start, words = 200 * number, f"{AGENCY} More at {number} o'clock, {number + 1} o'clock and at night."
        for text, hours in ((AGENCY, 0), (words, 25), (OTHER, 25)):
            store_texts([a_source()], [text], hours=[start + hours])
    assert changed == [[]] * 24


# Hardly alike enough to be copies: the second is one of both others, which are none of each other.
HALVES = [" ".join(f"word{number}" for number in range(start, start + 100)) for start in (0, 20, 40)]


@pytest.mark.parametrize("order", [(0, 2, 1), (2, 0, 1)])
@pytest.mark.parametrize("at_once", [False, True])
def test_a_posting_that_is_alone_comes_along_when_its_copy_is_folded_with_another(order, at_once):
    texts = [HALVES[number] for number in order]
    batches = [texts] if at_once else [[text] for text in texts]
    for batch in batches:
        store_texts([a_source() for _ in batch], batch)
    assert len(keys()) == 1
    assert Posting.objects.values("first_copy").distinct().count() == 1


LINK = "https://paper.example/storm"


def windowed(start: int, *, hours: float = 0, link: str = "") -> Posting:
    """A hundred words from a certain one on, stored: 25 words further it is a copy, 50 words further it is none."""
    source, at = a_source(), NOON + timedelta(hours=hours)
    words = " ".join(f"word{number}" for number in range(1_000 + start, 1_100 + start))
    entry = ParsedEntry(guid="1", link=link, title=f"Title {source.pk}", content=f"<p>{words}</p>", published=at)
    store([Document(source.pk, [entry], "", "", "en", at)])
    return Posting.objects.get(source=source)


def keys_of(*postings: Posting) -> set[int]:
    return set(Posting.objects.filter(pk__in=[each.pk for each in postings]).values_list("fold_key", flat=True))


def test_a_copy_follows_a_posting_that_moved_while_it_was_stored():
    windowed(50, link=LINK), windowed(50)
    moved, stored = windowed(0), []
    store_while_open(lambda: stored.append(windowed(-25)), lambda: stored.append(windowed(25, link=LINK)))
    assert len(keys_of(moved, *stored)) == 1


def test_a_daily_column_stays_together_when_its_latest_part_is_folded_with_another():
    first, second, third = windowed(0), windowed(0, hours=40), windowed(0, hours=100)
    other, copy = windowed(50, hours=120, link=LINK), windowed(25, hours=120, link=LINK)
    assert len(keys_of(first, second)) == 1
    assert len(keys_of(third, other, copy)) == 1
    windowed(0, hours=70)
    assert Posting.objects.get(pk=second.pk).first_copy == first.pk


def test_copies_of_what_was_moved_meanwhile_follow_it_to_its_present_group(monkeypatch):
    windowed(50, link=LINK), windowed(50)
    windowed(0, link=f"{LINK}/a")
    other, held = windowed(-45), []
    with monkeypatch.context() as late:
        late.setattr(duplicates, "_fold_again", lambda stored: held.append(stored) or [])
        late.setattr(duplicates, "note_copies", lambda keys: 0)
        moved = windowed(-20, link=f"{LINK}/a")
    windowed(25, link=LINK)
    duplicates._fold_again(held[0])
    assert len(keys_of(moved, other)) == 1
