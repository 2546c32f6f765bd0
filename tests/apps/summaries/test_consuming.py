"""Postings are summarised once for each text they have."""

from contextlib import suppress
from hashlib import blake2b
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import QuerySet

from apps.postings.models import Posting
from apps.summaries import actions, queries, tasks
from apps.summaries.algorithms.outlines import DEFAULT, STEPS
from apps.summaries.models import OutboxRow, Outline, Summary, Teaser, Vocabulary
from tests.builders import NOON, a_posting, a_source, a_source_that_repeats

pytestmark = pytest.mark.django_db

ARTICLE = " ".join(
    f"{who} {what} the {which} bridge on {day} after the storm had passed, officials of the harbour said later."
    for who, what, which, day in zip(
        ["Workers", "Engineers", "Sailors", "Divers", "Mayors", "Neighbours", "Children"],
        ["closed", "inspected", "left", "searched", "opened", "watched", "painted"],
        ["harbour", "old", "harbour", "stone", "new", "harbour", "wooden"],
        ["Monday", "Tuesday", "Sunday", "Friday", "Monday", "Thursday", "Monday"],
        strict=True,
    )
)


def an_article(text: str = ARTICLE, **values: Any) -> Posting:
    return a_posting(text=text, text_hash=_hash(text), language="en", title="The harbour bridge", **values)


def _hash(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()


def change(posting: Posting, text: str, **values: Any) -> None:
    Posting.objects.filter(pk=posting.pk).update(text=text, text_hash=_hash(text), **values)


def pull_all(limit: int = actions.CONSUMED_AT_ONCE) -> None:
    while actions.consume(limit):
        pass


class Killed(Exception):
    pass


def pull_and_be_killed(limit: int) -> None:
    """What it did is undone, as by a database that lost whom it worked for."""
    with suppress(Killed), transaction.atomic():
        assert actions.consume(limit)
        raise Killed


def tables() -> list[list[tuple[Any, ...]]]:
    def rows(found: QuerySet[Any]) -> list[tuple[Any, ...]]:
        return sorted(tuple(bytes(v) if isinstance(v, memoryview) else v for v in row) for row in found.values_list())

    outlines = Outline.objects.values_list("posting_id", "text_hash", "language", "words")
    summaries = Summary.objects.values_list("posting_id", "percent", "places")
    return [
        sorted((id, bytes(text_hash), language, tuple(words)) for id, text_hash, language, words in outlines),
        sorted((id, percent, tuple(places)) for id, percent, places in summaries),
        rows(Teaser.objects.all()),
    ]


def test_an_article_has_a_summary_of_every_step():
    posting = an_article()
    assert actions.consume() == 1
    assert sorted(Summary.objects.values_list("posting_id", "percent")) == [
        (posting.pk, step) for step in (DEFAULT, *STEPS)
    ]
    found = queries.shortened(posting).outline
    assert all(ARTICLE[start:end].endswith("later.") for start, end in found.summaries[30])
    assert "bridge" in found.words


def test_boilerplate_of_a_source_is_in_no_summary_of_its_articles_and_stories():
    header = "The harbour gazette thanks the readers who pay for news of the bridge and of storms."
    posting = an_article(f"{header} {ARTICLE}", source=a_source_that_repeats(header))
    pull_all()
    stored = queries.shortened(posting).outline
    assert [start for places in stored.summaries.values() for start, _ in places if start < len(header)] == []
    assert "gazette" not in stored.words
    assert header not in [sentence.text for sentence in queries.summary_of_story([posting.pk], words=1_000)]


def test_a_short_posting_is_read_but_not_summarised():
    posting = an_article("The bridge is closed. It was old.")
    pull_all()
    assert Outline.objects.filter(pk=posting.pk).exists()
    assert not Summary.objects.exists()


def test_edit_is_summarized_again_and_new_picture_is_not():
    posting = an_article()
    pull_all()
    before = tables()
    Posting.objects.filter(pk=posting.pk).update(image_url="https://a.example/b.png")
    assert not OutboxRow.objects.exists()
    change(posting, ARTICLE + " A last sentence that was added tells of seven ferries.")
    pull_all()
    assert tables() != before
    change(posting, ARTICLE)
    pull_all()
    assert tables() == before


def test_missing_summary_is_computed_on_display():
    posting = an_article()
    made = queries.shortened(posting).outline
    pull_all()
    assert queries.shortened(posting).outline == made
    change(posting, ARTICLE.replace("storm", "flood"))
    posting.refresh_from_db()
    places = queries.shortened(posting).outline.summaries[50]
    assert all("flood" in posting.text[start:end] for start, end in places)


def test_summaries_of_a_deleted_posting_are_deleted():
    posting = an_article("A short teaser.")
    change(posting, ARTICLE, extractor="keen-1")
    pull_all()
    posting.delete()
    pull_all()
    assert tables() == [[], [], []]
    assert not OutboxRow.objects.exists()


def test_a_feeds_own_words_are_kept_when_those_of_the_page_take_their_place():
    posting = an_article("The bridge is closed, says the mayor.")
    assert queries.shortened(posting).teaser == ""
    change(posting, ARTICLE, extractor="keen-1")
    assert queries.shortened(posting).teaser == "The bridge is closed, says the mayor."
    change(posting, ARTICLE + " And better extracted.", extractor="keen-2")
    assert queries.shortened(posting).teaser == "The bridge is closed, says the mayor."


def test_in_pieces_twice_and_with_a_worker_killed_the_tables_are_as_at_once():
    postings = [an_article(ARTICLE.replace("storm", f"storm {'abcdefghij'[number]}")) for number in range(10)]
    pull_all()
    at_once = tables()
    for model in (Outline, Summary):
        model.objects.all().delete()
    OutboxRow.objects.bulk_create(OutboxRow(posting_id=posting.pk) for posting in [*postings, *postings, *postings[:3]])

    for limit in (1, 4, 3):
        pull_and_be_killed(limit)
        actions.consume(limit)
    pull_all(4)
    assert tables() == at_once


def test_the_second_of_two_workers_leaves_the_work_to_the_first():
    posting = an_article()
    first = connection.copy()
    try:
        with first.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [actions.WRITING])
        assert actions.consume(wait=False) is None
        assert not Outline.objects.exists()
    finally:
        first.close()
    assert actions.consume() == 1
    assert Outline.objects.get().posting_id == posting.pk


def test_tasks_consume_all_rows_and_count_terms(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(actions, "MIN_COUNTED", 1)
    an_article()
    tasks.consume()
    tasks.count_terms()
    assert not OutboxRow.objects.exists()
    assert Vocabulary.objects.get().language == "en"


def test_terms_are_counted_from_scratch_and_outweigh_the_start_table(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(actions, "MIN_COUNTED", 3)
    source = a_source(listed=True)
    for number in range(4):
        an_article(f"The zugzwang of {'abcd'[number] * 3} was seen.", source=source)
    pull_all()
    assert queries.frequencies_of(["en"])["en"].shares(["zugzwang"]) == 0
    assert actions.count_terms(NOON) == {"en": 4}
    assert Vocabulary.objects.get().documents == 4
    assert queries.frequencies_of(["en-GB"])["en-GB"].holding["zugzwang"] == 4
    first = bytes(Vocabulary.objects.get().terms)
    assert actions.count_terms(NOON) == {"en": 4}
    assert bytes(Vocabulary.objects.get().terms) == first
    Posting.objects.all().delete()
    pull_all()
    assert actions.count_terms(NOON) == {}
    assert queries.frequencies_of(["en"])["en"].shares(["zugzwang"]) == 0


def test_story_is_summarized_from_postings_in_its_language():
    first = an_article("A storm closed the harbour bridge. The mayor was in Rome.")
    second = an_article("The harbour bridge was closed by a storm. Two ferries replace it until Friday.")
    german = a_posting(text="Ein Sturm hat die Brücke geschlossen. Der Bürgermeister war nicht da.", language="de")
    summary = queries.summary_of_story([second.pk, german.pk, first.pk, 0], words=60)
    assert [sentence.posting_id for sentence in summary] == sorted(
        (sentence.posting_id for sentence in summary), key=[second.pk, first.pk].index
    )
    texts = [sentence.text for sentence in summary]
    assert len([text for text in texts if "closed" in text]) == 1
    assert "Two ferries replace it until Friday." in texts
    assert queries.summary_of_story([], 60) == []


def test_reading_a_stored_outline_takes_one_query(django_assert_num_queries):
    posting = an_article()
    pull_all()
    with django_assert_num_queries(1):
        queries.shortened(posting)
