"""A query tried on one posting."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.postings.algorithms.words import analyse
from apps.search.algorithms.language import And, Not, Or, moment, names_match, parse
from apps.search.algorithms.language.matching import name_words
from lab.benchmarks.alerts.matching import PostingValues, matches

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
POSTING = PostingValues(
    title="The Who play in Zürich",
    text="It was a night to remember: 北京队 won, and e-mails were sent. To be or not to be.",
    source_id=7,
    source_names=("The Guardian", "my paper", "www.theguardian.com"),
    categories=("World", "Música"),
    language="en-GB",
    author="Ada Lovelace, Grace Hopper",
    published_at=NOW - timedelta(days=1),
    unread=True,
    followed=True,
)


def in_english(text):
    return analyse(text, "en").sequence


def found(query, posting=POSTING, now=NOW):
    return matches(parse(query), posting, analyse=in_english, now=now)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "zurich PLAYING",
        "nights",
        '"play in zurich"',
        '"to be or not to be"',
        '"the who"',
        "e-mail",
        "北京",
        "京队",
        "rome OR night",
        "-rome",
        "-(night rome)",
        "night (rome OR 北京)",
        "intitle:zurich",
        'intitle:rome,"play in"',
        "source:guardian",
        'source:"the guard"',
        "source:theguardian.com",
        "source:paper",
        "source:7",
        "source:8,7",
        "category:musica",
        "category:wor",
        "lang:en-US",
        "lang:de,en",
        "author:hopper",
        'author:"ada love"',
        "is:unread is:followed",
        "is:starred,unread",
        "-is:starred",
        "after:yesterday before:today",
        "after:2026-11-20 before:2026-11-21",
        "after:2026 before:2027",
        "after:2026-11",
        "after:2d before:12h",
    ],
)
def test_true_conditions_match(query):
    assert found(query)


@pytest.mark.parametrize(
    "query",
    [
        "rome",
        "night rome",
        '"zurich play"',
        '"who played by"',
        "京北",
        "-night",
        "-(night OR rome)",
        "night -(rome OR 北京)",
        "intitle:night",
        "source:wire",
        "source:uardian",
        "source:17",
        "category:old",
        "lang:de",
        "author:adam",
        'author:"lovelace ada"',
        "is:starred",
        "-is:unread",
        "before:yesterday",
        "after:today",
        "before:2026-11-20",
        "after:12h",
        "author:…",
    ],
)
def test_false_conditions_match_nothing(query):
    assert not found(query)


@pytest.mark.parametrize("nothing", ["the", "-the", "of", "-", "…", "(of OR in)", "-(of in)", '"…"', "intitle:…"])
def test_stop_words_set_no_condition_anywhere(nothing):
    assert found(nothing)
    assert found(f"night {nothing}")
    assert not found(f"rome {nothing}")
    assert not found(f"rome OR {nothing}")
    assert not found(f"-(night {nothing})")


def test_stop_words_do_count_in_quotes():
    assert found('"the"')
    assert not found('-"the"')
    assert not found('"a who"')


def test_days_begin_where_the_reader_is():
    midnight_in_tokyo = datetime(2026, 11, 20, 15, tzinfo=UTC)
    in_tokyo = NOW.astimezone(ZoneInfo("Asia/Tokyo"))
    assert moment("today", in_tokyo) == midnight_in_tokyo
    assert moment("today", NOW) == midnight_in_tokyo + timedelta(hours=9)


def test_hours_are_counted_through_the_change_of_clocks():
    morning_after = datetime(2026, 10, 25, 12, tzinfo=ZoneInfo("Europe/Berlin"))
    assert morning_after.timestamp() - moment("24h", morning_after).timestamp() == 24 * 3_600
    assert moment("1d", morning_after).hour == 13


@pytest.mark.parametrize("value", ["2026-13", "2026-11-31", "1066", "9999", "soon", "", "7", "7x", "-7d", "２０２６"])
def test_invalid_dates_are_refused(value):
    with pytest.raises(ValueError, match=r"date|month|day"):
        moment(value, NOW)


@given(st.from_regex(r"\d{1,4}(-\d{1,2}(-\d{1,2})?)?|\d{1,4}[hdw]", fullmatch=True), st.timezones())
def test_a_date_that_is_read_in_one_place_is_read_everywhere(value, zone):
    try:
        there = moment(value, NOW.astimezone(zone))
    except ValueError:
        with pytest.raises(ValueError, match=r"date|month|day"):
            moment(value, NOW)
    else:
        assert abs(there - moment(value, NOW)) <= timedelta(hours=26)


plain = st.sampled_from(["night", "rome", "zurich", "is:unread", "is:starred", '"the who"', "lang:de", "before:today"])


@given(st.lists(plain, min_size=2, max_size=5))
def test_together_means_all_and_or_means_any(queries):
    trees = tuple(parse(query) for query in queries)
    answers = [found(query) for query in queries]
    for tree, expected in ((And(trees), all(answers)), (Or(trees), any(answers)), (Not(Or(trees)), not any(answers))):
        assert matches(tree, POSTING, analyse=in_english, now=NOW) == expected


@given(st.text())
def test_any_name_with_words_is_found_by_itself(name):
    assert names_match(name, f"The {name}") == bool(name_words(name))


@given(st.lists(st.sampled_from(["bbc", "Le", "monde", "süd"]), min_size=1, max_size=5), st.data())
def test_a_piece_of_a_name_finds_it(words, data):
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    assert names_match(" ".join(words[start:end]).upper(), " – ".join(words))
