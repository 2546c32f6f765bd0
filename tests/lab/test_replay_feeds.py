"""Replay: recordings, made-up feeds, and how they are written."""

import json
import re
from collections import Counter, defaultdict
from datetime import UTC, datetime
from itertools import combinations, pairwise
from statistics import mean
from string import Formatter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sources.formats import parse
from apps.stories.algorithms.features import features
from apps.stories.algorithms.grouping import Grouping
from lab.worlds.addresses import Addresses, Kind, Target, locate, source_of
from lab.worlds.feed import Feed, Text, make_feed
from lab.worlds.rendering import Format, format_of, guid_of, render
from lab.worlds.synthetic import compose, make_feeds, weekly_profile
from lab.worlds.timeline import Timeline
from lab.worlds.trace import TraceError, read_feeds, read_sources
from lab.worlds.vocabulary import VOCABULARIES, Vocabulary

ADDRESSES = Addresses(port=8700, run="ab12")
SAME_TIME = Timeline(origin=0.0, start=0.0)
DAY = 86400.0

SOURCES = """src,url,first,lang,good
1,http://one.example/feed,2023-01-01T05:00:00+00:00,en,1
2,http://two.example/rss,2023-01-02T05:00:00+00:00,de,0
"""
ITEMS = """{"src": 1, "t": 300, "title": "late", "desc": "d"}
{"src": 2, "t": 200, "title": "other", "desc": ""}
{"src": 1, "t": 100, "title": "early", "desc": null}
{"src": 1, "t": 900, "title": "too late", "desc": "d"}
{"src": 3, "t": 100, "title": "of no source", "desc": "d"}
"""


def test_a_recording_is_cut_to_the_wanted_time_and_ordered_by_it():
    one, two = read_feeds(ITEMS.splitlines(), read_sources(SOURCES.splitlines()), begin=100.0, end=900.0)
    assert list(one.times) == [100.0, 300.0]
    assert [text.title for text in one.texts] == ["early", "late"]
    assert [text.paragraphs for text in one.texts] == [(), ("d",)]
    assert (two.language, [text.title for text in two.texts]) == ("de", ["other"])


def test_good_only_keeps_good_sources():
    assert [source.number for source in read_sources(SOURCES.splitlines(), good_only=True)] == [1]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "line 2: not a posting"),
        ('{"src": 1}', "line 2: not a posting"),
        ("[1]", "line 2: not a posting"),
        ('"' + "x" * 1_000_001 + '"', "line 2: longer than"),
    ],
)
def test_a_broken_line_of_a_recording_is_named(line, complaint):
    sources = read_sources(SOURCES.splitlines())
    with pytest.raises(TraceError, match=complaint):
        read_feeds([ITEMS.splitlines()[0], line], sources, begin=0.0, end=1.0)


def test_a_missing_column_is_named():
    with pytest.raises(TraceError, match="first, lang"):
        read_sources(["src,url,good", "1,http://one.example/feed,1"])


def test_time_runs_on_a_straight_line():
    timeline = Timeline(origin=1_000.0, start=50.0, speed=3600.0)
    assert timeline.real(1_000.0 + 3600.0) == 51.0
    assert timeline.recorded(timeline.real(12_345.0)) == pytest.approx(12_345.0)
    with pytest.raises(ValueError, match="positive"):
        Timeline(origin=0.0, start=0.0, speed=0.0)


def test_made_up_feeds_are_the_same_for_the_same_seed_and_others_for_another():
    first, again, other = (make_feeds(4, seed=seed, begin=0.0, end=20 * DAY) for seed in (1, 1, 2))
    assert [(list(feed.times), list(feed.texts)) for feed in first] == [
        (list(feed.times), list(feed.texts)) for feed in again
    ]
    assert [list(feed.times) for feed in first] != [list(feed.times) for feed in other]


def test_made_up_feeds_have_rates_and_profiles_like_real_ones():
    feeds = make_feeds(300, seed=5, begin=4 * DAY, end=(4 + 28) * DAY)  # four weeks from a Monday on
    rates = np.array([len(feed.times) / 28 for feed in feeds])
    assert 0.5 < np.median(rates) < 2.0
    assert rates.max() > 10 * np.median(rates)
    days = np.concatenate([(np.asarray(feed.times) - 4 * DAY) // DAY % 7 for feed in feeds])
    assert np.mean(days >= 5) < 0.2  # 2/7 if they did not rest at weekends
    assert {feed.language for feed in feeds} == {"en", "de", "fr", "es", "pl", "zh"}
    assert all(list(feed.times) == sorted(feed.times) for feed in feeds)


def test_several_made_up_sources_report_the_same_event():
    feeds = make_feeds(60, seed=3, begin=0.0, end=DAY)
    openings = [_event(text.title, feed.language) for feed in feeds for text in feed.texts]
    assert max(Counter(openings).values()) > 3


@pytest.mark.parametrize("days", [5, pytest.param(14, marks=pytest.mark.trial)])
def test_stories_of_made_up_feeds_hardly_ever_join_events(days):
    feeds = make_feeds(60, seed=3, begin=0.0, end=days * DAY)
    postings = sorted(
        (time, feed.language, text) for feed in feeds for time, text in zip(feed.times, feed.texts, strict=True)
    )
    grouping, events, stories, ends = Grouping(), [], {}, {}
    for key, (time, language, text) in enumerate(postings):
        found = features(text.title, " ".join(text.paragraphs), language)
        grouping.advance(time / 3600)
        stories[key] = grouping.place(key, time / 3600, found).story
        moved, united, _touched = grouping.settle()
        stories |= dict(moved)
        ends |= dict(united)
        grouping.rarity.add(time / 3600, found)
        events.append(_event(text.title, language))
    joined = defaultdict(set)
    for key, story in stories.items():
        while story in ends:
            story = ends[story]
        joined[story].add(events[key])
    sizes = Counter(stories.values())
    several = [found for story, found in joined.items() if sizes[story] > 2]
    assert len(several) > 3 * days
    assert sum(len(found) > 1 for found in several) < len(several) / 20


@pytest.mark.parametrize("vocabulary", VOCABULARIES, ids=lambda vocabulary: vocabulary.language)
def test_reports_of_an_event_have_many_words_in_common_and_those_of_others_few(vocabulary: Vocabulary):
    reports = defaultdict(list)
    for source in range(60):
        text = compose(1, source, 0, 0.0, vocabulary)
        reports[_event(text.title, vocabulary.language)].append(_words(text))
    same = [_common(*pair) for found in reports.values() for pair in combinations(found, 2)]
    others = [_common(*pair) for pair in combinations([found[0] for found in reports.values()], 2)]
    assert mean(same) > 0.65
    assert mean(others) < 0.4


@pytest.mark.parametrize("vocabulary", VOCABULARIES, ids=lambda vocabulary: vocabulary.language)
def test_a_made_up_text_has_no_sentence_twice_and_reports_of_an_event_agree_on_figures(vocabulary: Vocabulary):
    figures = defaultdict(set)
    for source in range(60):
        text = compose(1, source, 0, 0.0, vocabulary)
        sentences = re.split(r"(?<=[.。])", "".join(text.paragraphs))
        assert len(set(sentences)) == len(sentences)
        for sentence in sentences:
            figures[_event(text.title, vocabulary.language), re.sub(r"\d+", "", sentence)].add(sentence)
    assert {len(found) for found in figures.values()} == {1}


@pytest.mark.parametrize("vocabulary", VOCABULARIES, ids=lambda vocabulary: vocabulary.language)
def test_a_vocabulary_is_large(vocabulary: Vocabulary):
    assert len(set(vocabulary.sentences)) == len(vocabulary.sentences) >= 30
    assert len(set(vocabulary.objects)) == len(vocabulary.objects) >= 16
    names = {name for sentence in vocabulary.sentences[1:] for _, name, _, _ in Formatter().parse(sentence) if name}
    assert names == {"person", "critic", "town", "suburb", "venue", "firm", "number", "small", "object"}


def _event(title: str, language: str) -> str:
    """A title without its verb, which each source chooses."""
    verbs = next(each.verbs for each in VOCABULARIES if each.language == language)
    return re.sub("|".join(verbs), "", title)


def _words(text: Text) -> set[str]:
    """Pairs of characters in Chinese, which does not separate words."""
    whole = " ".join((text.title, *text.paragraphs)).lower()
    characters = re.findall(r"[\u4e00-\u9fff]", whole)
    return set(map("".join, pairwise(characters))) if characters else set(re.findall(r"\w+", whole))


def _common(one: set[str], other: set[str]) -> float:
    return len(one & other) / min(len(one), len(other))


@given(peak=st.floats(0, 24))
def test_a_weekly_profile_is_positive_and_has_mean_one(peak):
    profile = weekly_profile(peak)
    assert profile.min() > 0
    assert profile.mean() == pytest.approx(1.0)


@pytest.mark.parametrize("sources", [0, -1, 200_001])
def test_the_number_of_made_up_sources_is_bounded(sources):
    with pytest.raises(ValueError, match="number of sources"):
        make_feeds(sources, seed=1, begin=0.0, end=DAY)


@pytest.mark.parametrize("number", range(12))
def test_the_portals_own_parser_reads_every_variety_of_feed(number):
    times = [datetime(2024, 1, 1, hour, tzinfo=UTC) for hour in (1, 2, 3)]
    feed = make_feed(number, [(time, f"Posting <&> {time.hour} “ü” 新闻") for time in times])
    data = render(feed, 1, 3, SAME_TIME, ADDRESSES)
    parsed = parse(data, content_type=str(format_of(number)), url=ADDRESSES.feed(number))
    assert [entry.title for entry in parsed.entries] == ["Posting <&> 3 “ü” 新闻", "Posting <&> 2 “ü” 新闻"]
    assert [entry.link for entry in parsed.entries] == [ADDRESSES.article(number, 2), ADDRESSES.article(number, 1)]
    assert [entry.published for entry in parsed.entries] == [times[2], times[1]]
    assert [entry.guid for entry in parsed.entries] == [guid_of(number, 2, ADDRESSES), guid_of(number, 1, ADDRESSES)]


def test_sources_mix_formats_and_identifiers():
    formats = [format_of(number) for number in range(10)]
    assert (formats.count(Format.RSS), formats.count(Format.ATOM), formats.count(Format.JSON)) == (6, 3, 1)
    assert all(guid_of(number, 0, ADDRESSES) for number in range(30) if format_of(number) is not Format.RSS)


@given(number=st.integers(0, 19), title=st.text(), paragraph=st.text())
def test_any_text_can_be_written_in_any_format(number, title, paragraph):
    feed = Feed(number, "News", "en", "World", [1.0], [Text(title, (paragraph,))])
    data = render(feed, 0, 1, SAME_TIME, ADDRESSES)
    if format_of(number) is Format.JSON:
        assert json.loads(data)["items"][0]["url"] == ADDRESSES.article(number, 0)
    else:
        assert len(parse(data, content_type=str(format_of(number)), url=ADDRESSES.feed(number)).entries) == 1


def test_an_empty_feed_is_a_feed():
    for number in (1, 6, 9):
        data = render(make_feed(number, []), 0, 0, SAME_TIME, ADDRESSES)
        parsed = parse(data, content_type=str(format_of(number)), url=ADDRESSES.feed(number))
        assert list(parsed.entries) == []


@given(source=st.integers(0, 999_999), posting=st.integers(0, 999_999))
def test_every_address_leads_back_to_what_it_names(source, posting):
    host, _, path = ADDRESSES.article(source, posting).removeprefix("http://").partition("/")
    assert locate(host, f"/{path}") == Target(Kind.ARTICLE, source, ADDRESSES.run, posting)
    assert source_of(ADDRESSES.feed(source), 8700) == source
    assert source_of(f"http://127.0.0.1:8700/s/{source}/feed", 8700) == source


@pytest.mark.parametrize(
    "url", ["http://s1.replay.localhost:8701/feed", "http://example.org:8700/feed", "http://s1.replay.localhost:8700/"]
)
def test_other_addresses_belong_to_no_source(url):
    assert source_of(url, 8700) is None
