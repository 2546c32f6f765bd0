"""Lists of what rises, out of real tables."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from apps.postings.models import Posting
from apps.sources.models import Source
from apps.trending import actions
from apps.trending.algorithms.slices import pack_counts, pack_terms
from apps.trending.algorithms.terms import number_of
from apps.trending.models import Slice, Trend
from apps.trending.queries import curves_of, lists_of, ranks
from tests.builders import a_posting, a_source

pytestmark = pytest.mark.django_db

NOW = datetime(2024, 5, 2, 18, 30, tzinfo=UTC)
STEADY = ("Weather forecast for the coast", "Lottery numbers drawn", "Traffic report from the ring road")


def work_off() -> None:
    while actions.count():
        pass
    while actions.slice_stale():
        pass


@pytest.fixture
def sources() -> list[Source]:
    return [a_source(listed=True, title="", category="local" if number < 4 else "world") for number in range(6)]


def a_usual_month(sources: list[Source]) -> None:
    for day in range(30):
        for number, source in enumerate(sources):
            at = NOW - timedelta(days=day, minutes=number)
            a_posting(source, title=STEADY[number % 3], text="", language="en", published_at=at)


def a_breaking_story(sources: list[Source], how_many: int = 10) -> list[Posting]:
    titles = (
        "Harbour bridge closed after storm",
        "Storm: harbour bridge stays closed",
        "Ferries replace harbour bridge",
    )
    return [
        a_posting(
            sources[number % len(sources)],
            title=f"{titles[number % 3]} as {'abcdefghijklmnop'[number]} waits",
            text="",
            language="en",
            published_at=NOW - timedelta(minutes=7 * number),
        )
        for number in range(how_many)
    ]


def terms_shown(horizon: str, method: str = "ours", category: str = "") -> list[str]:
    return [trend.term.lower() for trend in lists_of("en", category, method)[horizon]]


def test_breaking_words_are_listed_at_all_horizons_and_daily_ones_are_not(sources):
    a_usual_month(sources)
    postings = a_breaking_story(sources)
    work_off()

    assert actions.refresh(("hour", "day", "week"), NOW) == 9  # everything, local, world

    for horizon in ("hour", "day", "week"):
        assert terms_shown(horizon) == ["harbour bridge"]
    [trend] = lists_of("en", "")["day"]
    assert (trend.documents, trend.sources, trend.expected) == (10, 6, 0.5)
    assert set(trend.posting_ids) == {posting.pk for posting in postings[:5]}
    assert trend.curve[-2:] == [0, 10]
    assert len(trend.curve) == 28


def test_yioops_list_has_what_comes_every_day(sources):
    a_usual_month(sources)
    a_breaking_story(sources, 4)
    work_off()
    actions.refresh(("week",), NOW)
    assert "weather forecast" in terms_shown("week", "yioop")
    assert "weather forecast" not in terms_shown("week")


def test_a_list_of_a_category_knows_its_sources_only(sources):
    a_breaking_story(sources[:4])
    work_off()
    actions.refresh(("day",), NOW)
    assert terms_shown("day", category="local") == ["harbour bridge"]
    assert terms_shown("day", category="world") == []
    assert {(place.language, place.category) for place in ranks()} == {("en", ""), ("en", "local")}


def test_many_postings_of_two_sources_do_not_trend(sources):
    a_breaking_story(sources[:2], 16)
    work_off()
    actions.refresh(("day",), NOW)
    assert terms_shown("day") == []


def test_making_lists_again_keeps_since_when_a_term_is_listed(sources):
    a_breaking_story(sources)
    work_off()
    actions.refresh(("day",), NOW)
    actions.refresh(("day",), NOW + timedelta(minutes=10))
    [trend] = Trend.objects.filter(horizon="day", category="", method="ours")
    assert (trend.since, trend.listed_at) == (NOW, NOW + timedelta(minutes=10))


def label_of(story_id: int) -> actions.StoryLabel:
    return actions.StoryLabel(story_id, f"Story {story_id}")


def test_a_term_is_labelled_with_the_story_that_the_majority_of_its_postings_is_in(sources):
    postings = a_breaking_story(sources)
    work_off()
    actions.refresh(("day",), NOW)
    assert actions.label({posting.pk: label_of(7 if number else 8) for number, posting in enumerate(postings)}) == 2
    [trend] = lists_of("en", "")["day"]
    assert (trend.story_id, trend.label) == (7, "Story 7")
    actions.refresh(("day",), NOW + timedelta(minutes=5))
    [trend] = lists_of("en", "")["day"]
    assert (trend.story_id, trend.label) == (7, "Story 7")
    actions.label({postings[0].pk: label_of(8)})  # one posting is too few
    [trend] = lists_of("en", "")["day"]
    assert (trend.story_id, trend.label) == (None, "")


def test_a_ticker_does_not_hide_the_story_behind_a_term(sources):
    postings = a_breaking_story(sources, 6)
    for number in range(8):
        title = f"Ticker {'abcdefgh'[number]}: harbour bridge closed after storm"
        a_posting(sources[0], title=title, text="", language="en", published_at=NOW)
    work_off()
    actions.refresh(("day",), NOW)
    actions.label({posting.pk: label_of(7) for posting in postings})
    assert lists_of("en", "")["day"][0].story_id == 7


def test_a_list_has_one_row_of_each_story(sources):
    postings = a_breaking_story(sources)
    for number, source in enumerate(sources):
        title = f"Ferry strike in Lisbon {'abcdef'[number]}"
        postings.append(a_posting(source, title=title, text="", language="en", published_at=NOW))
    work_off()
    actions.refresh(("day",), NOW)
    first, second = terms_shown("day")
    actions.label({posting.pk: label_of(7) for posting in postings})
    [trend] = lists_of("en", "")["day"]
    assert trend.term.lower() == first
    assert second in [term.lower() for term in trend.related]


def test_the_first_hour_of_a_portal_lists_what_is_rare_in_general_news(sources):
    for number in range(100):
        town = "".join("abcdefghij"[int(digit)] for digit in str(number)) + "ville"
        title = "Merkel seeks visa" if number < 4 else "The market" if number < 8 else "Today"
        a_posting(sources[number % 6], title=f"{title} {town}", text="", language="en", published_at=NOW)
    work_off()
    actions.refresh(("hour",), NOW)
    assert set(terms_shown("hour")) & {"merkel", "visa"}
    assert "market" not in terms_shown("hour")


def test_documents_that_share_only_a_word_are_no_trend(sources):
    others = ("dance in Oslo", "rates in Rome", "ferry of Lisbon", "bread for Kyoto", "snow over Perth", "tax on tea")
    for source, other in zip(sources, others, strict=True):
        a_posting(source, title=f"Lee and {other}", text="", language="en", published_at=NOW)
    work_off()
    actions.refresh(("day",), NOW)
    assert terms_shown("day") == []


def test_a_list_without_postings_is_emptied(sources):
    a_breaking_story(sources)
    work_off()
    actions.refresh(("hour",), NOW)
    assert terms_shown("hour")
    actions.refresh(("hour",), NOW + timedelta(hours=5))
    assert not terms_shown("hour")


def test_the_curve_of_any_term_is_found_in_the_slices(sources):
    a_usual_month(sources)
    a_breaking_story(sources)
    work_off()
    actions.refresh(("day",), NOW)
    [trend] = lists_of("en", "")["day"]

    curves = curves_of([trend.number, -8], "day", "en", "", NOW, 30)

    assert curves[trend.number].documents == (0,) * 29 + (10,)
    assert curves[-8].documents == (0,) * 30
    assert curves[trend.number].begins[-1] == NOW.replace(hour=0, minute=0)
    assert curves_of([trend.number], "day", "en", "world", NOW, 1)[trend.number].documents == (2,)


def test_curves_are_found_in_slices_of_many_terms():
    numbers = np.unique([number_of(f"term {number}", number % 3) for number in range(5_000)])
    counts = np.arange(1, len(numbers) + 1)
    day = NOW.replace(hour=0, minute=0)
    for every, category in ((1, "local"), (2, "world")):
        Slice.objects.create(
            step="day", language="en", category=category, begins_at=day, documents=9_000,
            terms=pack_terms(numbers[::every]), counts=pack_counts(counts[::every]),
        )  # fmt: skip
    chosen = [*range(0, len(numbers), 499), len(numbers) - 1]

    curves = curves_of(numbers[chosen].tolist(), "day", "en", "", NOW, 1)

    found = [curves[int(numbers[place])].documents for place in chosen]
    assert found == [((1 if place % 2 else 2) * (place + 1),) for place in chosen]


def test_in_the_first_weeks_a_month_is_compared_with_its_first_half(sources):
    a_usual_month(sources)
    a_breaking_story(sources)
    work_off()
    actions.refresh(("month",), NOW)
    assert terms_shown("month") == ["harbour bridge"]
