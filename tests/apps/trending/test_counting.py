"""Counts follow from postings alone: however often, in whatever order and however interrupted they are made."""

import random
from collections import Counter, defaultdict
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.postings.models import Posting
from apps.sources.models import Source
from apps.trending import actions
from apps.trending.actions import slicing
from apps.trending.algorithms.slices import unpack_counts, unpack_terms
from apps.trending.algorithms.terms import fold_of, number_of, terms_of
from apps.trending.models import Counted, OutboxRow, Slice, Stale
from tests.builders import a_posting, a_source, a_source_that_repeats

pytestmark = pytest.mark.django_db

NOW = datetime(2024, 5, 2, 9, 30, tzinfo=UTC)
SUBJECTS = ("Harbour bridge", "Lantern festival", "River ferry", "Old mill")
EVENTS = ("closed after storm", "opens on Sunday", "wins award", "sold to investor")

Place = tuple[str, str, str, datetime]


def stored() -> dict[Place, tuple[int, dict[int, int]]]:
    return {
        (each.step, each.language, each.category, each.begins_at): (
            each.documents,
            dict(zip(unpack_terms(each.terms).tolist(), unpack_counts(each.counts).tolist(), strict=True)),
        )
        for each in Slice.objects.all()
    }


def counted_by_hand() -> dict[Place, tuple[int, dict[int, int]]]:
    """The slow and obvious way: all postings, one after the other."""
    documents: Counter[Place] = Counter()
    terms: dict[Place, Counter[int]] = defaultdict(Counter)
    seen = set()
    for posting in Posting.objects.filter(source__listed=True).select_related("source").order_by("pk"):
        hour = posting.published_at.replace(minute=0, second=0, microsecond=0)
        fold = (posting.source_id, hour, fold_of(posting.title, "en"))
        if fold in seen:
            continue
        seen.add(fold)
        day = hour.replace(hour=0)
        for step, begins_at in (("hour", hour), ("day", day), ("month", day.replace(day=1))):
            place = (step, "en", posting.source.category, begins_at)
            documents[place] += 1
            terms[place].update({term.number for term in terms_of(posting.title, posting.text, "en")})
    return {place: (amount, dict(terms[place])) for place, amount in documents.items()}


def work_off(at_once: int = 1_000) -> None:
    while actions.count(at_once):
        pass
    while actions.slice_stale(at_once):
        pass


def a_headline(generator: random.Random, sources: list[Source]) -> Posting:
    return a_posting(
        generator.choice(sources),
        title=f"{generator.choice(SUBJECTS)} {generator.choice(EVENTS)}",
        text="",
        language="en",
        published_at=NOW - timedelta(hours=generator.randrange(60)),
    )


def change_something(generator: random.Random, sources: list[Source]) -> None:
    postings = list(Posting.objects.order_by("pk"))
    what = generator.random()
    if what < 0.5 or not postings:
        a_headline(generator, sources)
    elif what < 0.7:
        Posting.objects.filter(pk=generator.choice(postings).pk).update(title=f"{generator.choice(SUBJECTS)} burns")
    elif what < 0.8:
        Posting.objects.filter(pk=generator.choice(postings).pk).update(source=generator.choice(sources))
    elif what < 0.9:
        Posting.objects.filter(pk=generator.choice(postings).pk).delete()
    else:
        Source.objects.filter(pk=generator.choice(sources).pk).update(category=generator.choice(["local", "world"]))


class Killed(Exception):
    pass


def killed_once(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, run: Any) -> None:
    """Run until it reaches a function, and end it there as a killed worker ends: what it did is undone."""

    def die(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(module, name, die)
        with suppress(Killed):
            run()


@pytest.mark.parametrize("seed", range(4))
def test_any_order_of_changes_work_repeats_and_kills_gives_what_counting_by_hand_gives(seed, monkeypatch):
    generator = random.Random(seed)
    sources = [a_source(listed=number != 0, title="", category="local") for number in range(4)]
    for _ in range(40):
        change_something(generator, sources)
        chance = generator.random()
        if chance < 0.15:
            killed_once(monkeypatch, slicing, "_mark_stale", lambda: actions.count(5))
        elif chance < 0.3:
            killed_once(monkeypatch, slicing, "_saved", lambda: actions.slice_stale(3))
        elif chance < 0.5:
            actions.count(generator.randrange(1, 6))
        elif chance < 0.7:
            actions.slice_stale(generator.randrange(1, 4))
    work_off(at_once=7)

    assert stored() == counted_by_hand()
    assert len(stored()) > 10


def test_counting_everything_once_more_changes_nothing():
    generator = random.Random(1)
    sources = [a_source(listed=True) for _ in range(2)]
    for _ in range(20):
        a_headline(generator, sources)
    work_off()
    before = stored()
    OutboxRow.objects.bulk_create(OutboxRow(posting_id=id) for id in Posting.objects.values_list("pk", flat=True))

    assert actions.count() == 20

    assert not Stale.objects.exists()  # nothing was different
    Stale.objects.bulk_create(
        Stale(language=each.language, category=each.category, hour=each.hour) for each in Counted.objects.all()
    )
    work_off()
    assert stored() == before


def test_postings_of_a_source_that_hardly_differ_count_once_an_hour():
    loud, calm = a_source(listed=True, title="Loud"), a_source(listed=True, title="Calm")
    for number in range(5):
        a_posting(loud, title=f"Gold price up {number}%", text="", language="en", published_at=NOW)
    a_posting(calm, title="Price of gold up 3%", text="", language="en", published_at=NOW)

    work_off()

    hour = Slice.objects.get(step="hour")
    assert hour.documents == 2
    [gold] = {term.number for term in terms_of("gold", "", "en")}
    assert dict(zip(unpack_terms(hour.terms), unpack_counts(hour.counts), strict=True))[gold] == 2


def test_only_listed_sources_count_and_unlisting_removes_their_postings():
    source = a_source(listed=False)
    a_posting(source, title="Harbour bridge closed", published_at=NOW)
    work_off()
    assert not Slice.objects.exists()

    Source.objects.filter(pk=source.pk).update(listed=True)
    work_off()
    assert Slice.objects.count() == 3

    Source.objects.filter(pk=source.pk).update(listed=False)
    work_off()
    assert not Slice.objects.exists()
    assert not Counted.objects.exists()


def test_a_changed_stop_expression_recounts_postings():
    source = a_source(listed=True, title="Gazette")
    a_posting(source, title="Daily horoscope for Leo", text="", language="en", published_at=NOW)
    work_off()
    before = len(unpack_terms(Counted.objects.get().terms))

    Source.objects.filter(pk=source.pk).update(stop_regex="(?i)horoscope")
    work_off()

    assert len(unpack_terms(Counted.objects.get().terms)) < before


def test_words_of_a_sources_own_name_do_not_count_in_it():
    a_posting(a_source(listed=True, title="Daily Planet"), title="Planet", text="", language="en", published_at=NOW)
    work_off()
    assert not Counted.objects.get().terms


def test_names_that_a_source_repeats_do_not_count_in_it():
    footer = "Our reporters write from Springfield."
    a_posting(
        a_source_that_repeats(footer, listed=True),
        title="Harbour bridge closed",
        text=f"The mayor of Shelbyville spoke. {footer}",
        language="en",
        published_at=NOW,
    )
    work_off()
    counted = set(unpack_terms(Counted.objects.get().terms).tolist())
    assert number_of("shelbyvill", 0) in counted
    assert number_of("springfield", 0) not in counted


def test_rare_terms_leave_old_slices_and_an_edit_of_an_old_posting_is_still_counted_right():
    sources = [a_source(listed=True, title="", category="local") for _ in range(3)]
    for number, source in enumerate(sources):
        a_posting(source, title="Harbour bridge", text="", language="en", published_at=NOW - timedelta(hours=number))
    rare = a_posting(sources[0], title="Old mill burns", text="", language="en", published_at=NOW)
    work_off()

    later = NOW + timedelta(days=45)
    actions.prune(later)
    month = next(each for each in Slice.objects.filter(step="month"))
    assert set(unpack_terms(month.terms).tolist()) == {term.number for term in terms_of("Harbour bridge", "", "en")}
    assert not Slice.objects.filter(step="hour").exists()

    Posting.objects.filter(pk=rare.pk).update(title="Harbour bridge reopens")
    work_off()
    assert stored() == counted_by_hand()
    before = {place: counts for place, counts in stored().items() if place[0] != "hour"}
    actions.prune(later)
    actions.prune(later)
    after = stored()
    harbour = terms_of("harbour", "", "en")[0].number
    assert {place: terms[harbour] for place, (_, terms) in after.items()} == {
        place: terms[harbour] for place, (_, terms) in before.items()
    }
