"""What a person finds, in which order, and what it costs."""

import random
from dataclasses import replace
from datetime import UTC

import pytest
from django.core.cache import cache
from hypothesis import given
from hypothesis import strategies as st

from apps.postings.actions import Document, store
from apps.postings.queries import BadCursor
from apps.search.actions.reindexing import consume
from apps.search.actions.segment_building import maintain
from apps.search.algorithms.language import parse
from apps.search.queries import LENGTH
from apps.search.queries import searching as module
from apps.search.queries.cursors import RankCursor
from apps.sources.formats.feed import ParsedEntry
from tests.apps.search.searching import all_pages, published, search, titles
from tests.builders import NOON, a_follow, a_mark, a_source, a_user

pytestmark = pytest.mark.django_db

ORDERS = ("relevance", "fresh", "newest")


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    cache.clear()


@pytest.fixture
def feedback_on_common_words(monkeypatch) -> None:
    """As in a large archive: in one of a few postings every word is common."""
    monkeypatch.setattr(module, "OURS", replace(module.OURS, rarity=0))


# --- orders -----------------------------------------------------------------------------------------------------------
def test_by_relevance_what_has_more_of_the_words_comes_first_and_by_time_it_needs_them_all():
    for days, title in ((1, "Paris"), (2, "Summit in Paris"), (3, "Paris, the summit of fashion"), (4, "Rome")):
        published(title, days=days)
    consume()
    assert titles(search("paris summit"))[0] == "Summit in Paris"
    assert len(search("paris summit").postings) == 3
    assert titles(search("paris summit", order="newest")) == ["Summit in Paris", "Paris, the summit of fashion"]


def test_without_words_to_rank_by_everything_is_ordered_by_time():
    for days in (3, 1, 2):
        published(f"The day {days}", days=days)
    consume()
    for text in ("lang:en", '"the"', "the", "after:2000", "-paris"):
        assert titles(search(text)) == ["The day 1", "The day 2", "The day 3"], text


@pytest.mark.parametrize("order", ORDERS)
def test_signs_alone_find_nothing(order):
    published("Paris at 100 %")
    consume()
    for text in ("% 🙂", "intitle:%", "% -rome", "% lang:en"):
        assert search(text, order=order).postings == (), text
        assert module.matching(a_user(), parse(text), now=NOON) == [], text
    assert len(search("% paris", order=order).postings) == 1


def test_freshness_lifts_new_postings_and_says_so():
    old, new = published("Paris Paris", days=300), published("Paris today, said the others", days=0.5)
    consume()
    assert search("paris").postings == (old.pk, new.pk)
    fresh = search("paris", order="fresh")
    assert fresh.postings == (new.pk, old.pk)
    assert fresh.reasons[old.pk][0].startswith("300 days old: score × 0.25")
    assert "people follow its feed" in fresh.reasons[old.pk][1]
    assert not search("paris").reasons


def test_authority_lifts_sources_that_many_follow():
    followed, other = a_source(listed=True), a_source(listed=True)
    for _ in range(5):
        a_follow(source=followed)
    known, unknown = published("Paris", followed), published("Paris", other)
    consume()
    assert search("paris").postings == (unknown.pk, known.pk)
    assert search("paris", order="fresh").postings == (known.pk, unknown.pk)


# --- words ------------------------------------------------------------------------------------------------------------
def test_a_word_is_found_in_the_form_of_each_posting_s_language():
    english, german = published("The election", language="en"), published("Die Wahl und die Wahlen", language="de")
    published("Nothing of the kind", language="en")
    consume()
    assert search("elections").postings == (english.pk,)
    assert search("wahlen").postings == (german.pk,)
    assert search("wahlen", order="newest").postings == (german.pk,)


@pytest.mark.usefixtures("feedback_on_common_words")
def test_added_words_respect_filters_phrases_and_exclusions():
    for number in range(6):
        published(f"Paris summit {number}", text="Emissions rise again.", days=number)
    published("Emissions rise in Rome", language="en")
    published("Summit of Paris: emissions rise")
    consume()
    assert "Emissions rise in Rome" in titles(search("summit", expansion=True))
    for text in ('"paris summit"', "summit intitle:paris", "summit -rome", 'summit -"rise in"'):
        assert "Emissions rise in Rome" not in titles(search(text, expansion=True)), text


def test_added_words_come_from_postings_that_the_person_may_open():
    secret = published("Paris", a_source(listed=False), text="Confidential emissions.")
    open_ = published("Paris", text="Public summit.")
    published("Rome")
    consume()
    stranger = a_user()
    for liked in ((), (secret.pk,), (secret.pk, open_.pk)):
        result = search("paris", stranger, expansion=True, liked_ids=liked)
        assert "confidenti" not in [word.term for word in result.added]
        assert {posting_id for word in result.added for posting_id in word.posting_ids} <= {open_.pk}


@pytest.mark.usefixtures("feedback_on_common_words")
def test_added_words_are_no_parts_of_addresses_no_numbers_and_not_from_one_source_alone():
    feeds = [a_source(listed=True) for _ in range(3)]
    for number, feed in enumerate(feeds):
        text = f"Emissions rise 35044031 https://wire.example/story Analyst{number} www.example.org/comments"
        published("Summit", feed, text=text)
        published("Summit", feeds[0], text="Our columnist writes.", days=2)
    published("Rome", text="Emissions")
    consume()
    added = {word.term for word in search("summit", expansion=True).added}
    assert added == {"emiss", "rise"}


def test_words_that_are_everywhere_are_searched_for_alone():
    for _ in range(6):
        published("Paris summit", text="Emissions rise.")
    consume()
    assert not search("paris summit", expansion=True).added


@pytest.mark.usefixtures("feedback_on_common_words")
def test_a_quoted_phrase_is_searched_for_alone():
    for _ in range(3):
        published("Paris summit", text="Emissions rise.")
    published("Rome")
    consume()
    assert search("paris summit", expansion=True).added
    assert not search('"paris summit"', expansion=True).added


def test_removed_terms_stay_out_and_a_liked_posting_needs_no_query():
    liked = published("Paris", text="Emissions and delegations.")
    published("Emissions")
    published("Rome")
    consume()
    like = search("", liked_ids=(liked.pk,), expansion=True)
    assert titles(like)[:2] == ["Paris", "Emissions"]
    assert "emiss" in [word.term for word in like.added]
    without = search("", liked_ids=(liked.pk,), expansion=True, removed_terms=("emiss",))
    assert "emiss" not in [word.term for word in without.added]
    assert "Emissions" not in titles(without)


def test_disliked_postings_are_left_out():
    bad, good = published("Paris", text="Fashion."), published("Paris", text="Summit.")
    consume()
    assert search("paris", disliked_ids=(bad.pk,)).postings == (good.pk,)


def test_a_starred_posting_of_an_unfollowed_source_is_found():
    user, posting = a_user(), published("Paris", a_source(listed=False))
    consume()
    assert not search("paris", user).postings
    a_mark(user, posting, starred_at=NOON)
    assert search("paris", user).postings == (posting.pk,)
    assert search("is:starred", user).postings == (posting.pk,)


# --- pages ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("order", ORDERS)
def test_pages_stay_as_they_are_while_news_arrive_and_generations_are_made(order):
    user, source, chance = a_user(), a_source(listed=True), random.Random(7)
    for number in range(3 * LENGTH + 5):
        words = " ".join(chance.choices(["paris", "summit", "storm", "vote"], k=chance.randint(1, 6)))
        published(f"Paris {words}", source, days=number % 9)
    consume()
    expected = all_pages("paris", user, order=order, expansion=order == "relevance")
    assert len(expected) == len(set(expected)) == 3 * LENGTH + 5
    found, cursor = [], ""
    for arrival in range(10):
        result = search("paris", user, order=order, expansion=order == "relevance", cursor=cursor)
        found += result.postings
        cursor = result.next
        for _ in range(7):
            published("Paris paris, just in", source, days=0.01)
        consume()
        maintain(at_least=5 * (arrival + 1))
        if not cursor:
            break
    assert found == expected


def test_evicted_order_is_recomputed_without_later_arrivals():
    user, source = a_user(), a_source(listed=True)
    for number in range(2 * LENGTH):
        published("Paris", source, days=number)
    consume()
    first = search("paris", user)
    published("Paris", source)
    consume()
    cache.clear()
    second = search("paris", user, cursor=first.next)
    assert len({*first.postings, *second.postings}) == 2 * LENGTH
    assert not second.next


def test_an_order_that_is_kept_is_for_one_person_and_one_query():
    source = a_source(listed=False)
    reader = a_follow(source=source).user
    for number in range(2 * LENGTH):
        published(f"Paris {number}", source)
    consume()
    cursor = search("paris", reader).next
    assert search("paris", reader, cursor=cursor).postings
    assert not search("paris", a_user(), cursor=cursor).postings
    assert not search("7", reader, cursor=cursor).postings


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "r",
        "r1.2",
        "r1.2.x",
        "r-1.2.3",
        "r1.99999999999999999.0",
        "r99999999999.1.1",
        "1.2.3",
        "1.x",
        "²",
        "r١.١.١",
    ],
)
@pytest.mark.parametrize("order", ORDERS)
def test_an_invalid_cursor_is_refused(order, cursor):
    published("Paris")
    consume()
    with pytest.raises(BadCursor):
        search("paris", order=order, cursor=cursor)


@given(st.integers(0, 2**31 - 1), st.integers(0, 1_700_000_000_000_000), st.integers(0, 10_000))
def test_a_place_is_read_as_it_was_written(until, at, position):
    place = RankCursor(until, at, position)
    assert RankCursor.decode(place.encode(), NOON) == place
    assert RankCursor.decode(place.encode(), NOON).at(NOON).astimezone(UTC).timestamp() * 1e6 == pytest.approx(at)


# --- counts -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("order", ORDERS)
def test_results_are_counted_by_source(order):
    wire, herald = a_source(listed=True), a_source(listed=True)
    for source, title in ((wire, "Paris"), (herald, "Paris"), (herald, "Paris"), (herald, "Rome")):
        published(title, source)
    consume()
    result = search("paris", order=order)
    assert (result.total, result.sources) == (3, {wire.pk: 1, herald.pk: 2})


@pytest.mark.usefixtures("feedback_on_common_words")
def test_results_count_postings_with_the_querys_own_words():
    source, user = a_source(listed=True), a_user()
    for days in range(12):
        published("Summit of climate ministers on emissions", source, days=days)
    for days in range(6):
        published("Ministers on emissions", source, days=days)
    consume()
    found = search("climate", user, order="relevance", expansion=True)
    assert found.added
    assert (found.exact, found.total) == (12, 18)
    assert search("climate", user, order="newest").exact == 12


def test_exact_matches_have_all_words_of_the_query_in_any_form_and_language():
    for title in ("Summits in Paris", "Paris", "A summit", "Paris, Rome and a summit", "Rome"):
        published(title)
    published("北京 summit 会议", language="zh")
    consume()
    counts = {"the summit paris": 2, "summit (paris OR rome)": 2, "summit 会议": 1, "summit elsewhere": 0}
    for text, exact in counts.items():
        assert search(text).exact == exact, text


def test_the_total_goes_on_where_lists_end(monkeypatch):
    monkeypatch.setattr(module, "MAX_RANKED", 30)
    monkeypatch.setattr(module, "MAX_COUNTED", 30)
    source, user = a_source(listed=True), a_user()
    for number in range(50):
        published("Paris, the day" if number % 2 else "Paris", source, days=number)
    consume()
    for order in ORDERS:
        assert search("paris", user, order=order).total == 50
    assert len(all_pages("paris", user, order="newest")) == 50
    assert len(all_pages("paris", user, order="relevance")) == 30


@pytest.mark.usefixtures("feedback_on_common_words")
def test_related_terms_do_not_come_from_what_a_feed_repeats():
    source = a_source(listed=True)
    reports = {
        "Paris summit": "Delegates met",
        "Summit ends": "Delegates left",
        "Derby draw": "Penalty saved",
        "Bank rates": "Mortgages rose",
    }
    entries = [
        ParsedEntry(guid=title, title=title, content=f"<p>{text}.</p><p>Subscribe newsletter.</p>")
        for title, text in reports.items()
    ]
    store([Document(source.pk, entries, "", "", "en", NOON)])
    consume()
    found = search("summit", expansion=True)
    assert set(titles(found)[:2]) == {"Paris summit", "Summit ends"}
    added = {word.term for word in found.added}
    assert "deleg" in added
    assert added.isdisjoint({"subscrib", "newslett"})
    assert "Derby draw" in titles(search("newsletter"))
