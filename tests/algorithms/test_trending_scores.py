"""Scores, lists, and what both show on a stream of which it is known what trends."""

from functools import cache
from math import log, log2, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.trending.algorithms import yioop
from apps.trending.algorithms.choosing import COVERED, choose
from apps.trending.algorithms.coherence import coherent
from apps.trending.algorithms.documents import gather, holders, source_counts
from apps.trending.algorithms.scoring import HOUR_HORIZON, Horizon, Past, prior_shares, rise
from apps.trending.algorithms.slices import Counts, counted, merged
from apps.trending.algorithms.terms import number_of
from lab.evaluations.trending.evaluation import TRIALS, ReadStream, evaluate, pooled
from lab.evaluations.trending.stream import Headline, make_stream
from lab.plots import panels

SHORT = Horizon("test", "hour", 2, 9, (3, 6), 1.0)


def rise_by_hand(a: int, sources: int, total: int, counts: list[int], totals: list[int], horizon: Horizon) -> float:
    """The score of one term, step by step as it is defined."""
    background = range(max(len(totals) - horizon.background, 0), len(totals))
    c, n = sum(counts[step] for step in background), sum(totals[step] for step in background)
    expected = max(total * (c + 0.5) / (n + 50), 0.5)

    def scaled(begin: int) -> float:
        end = min(begin + horizon.window, len(totals))
        documents = sum(totals[begin:end])
        return sum(counts[begin:end]) * total / max(documents, total / 4, 1)

    for ago in horizon.seasons:
        if ago <= len(totals):
            expected = max(expected, scaled(len(totals) - ago))
    if a < 4 or sources < 3 or a <= expected:
        return 0.0
    score = sqrt(2 * (a * log(a / expected) - (a - expected)))
    ends = range(len(totals), horizon.window - 1, -horizon.window)
    windows = [scaled(end - horizon.window) for end in ends][:14]
    if len(windows) >= 3:
        mean = sum(windows) / len(windows)
        variance = sum((value - mean) ** 2 for value in windows) / len(windows)
        score /= sqrt(max(1.0, variance / max(mean, 0.5)))
    return score * log2(1 + sources) / log2(1 + a)


@given(st.data())
def test_scores_are_those_of_the_definition(data):
    steps = data.draw(st.integers(0, 40))
    totals = data.draw(st.lists(st.integers(0, 50), min_size=steps, max_size=steps))
    counts = [[data.draw(st.integers(0, total)) for total in totals] for _ in range(2)]
    window = [data.draw(st.integers(0, 60)) for _ in counts]
    sources = [data.draw(st.integers(0, a)) for a in window]
    past = Past(np.array(counts, np.int64).reshape(2, steps).T, np.array(totals, np.int64))

    found = rise(np.array(window), np.array(sources), np.array(window), 60, past, SHORT).scores

    expected = [
        rise_by_hand(*each, 60, count, totals, SHORT) for *each, count in zip(window, sources, counts, strict=True)
    ]
    assert found == pytest.approx(expected, abs=1e-9)


@given(st.integers(4, 100), st.integers(3, 100))
def test_more_documents_of_more_sources_never_score_less(documents, more):
    past = Past(np.ones((20, 1), np.int64), np.full(20, 50))

    def score(amount: int) -> float:
        values = np.array([amount])
        return float(rise(values, values, values, 200, past, SHORT).scores[0])

    assert score(documents + more) >= score(documents)


def test_fifty_copies_of_one_source_do_not_rise():
    nothing = Past(np.zeros((0, 1), np.int64), np.zeros(0, np.int64))
    assert rise(np.array([50]), np.array([1]), np.array([50]), 100, nothing, SHORT).scores == 0


terms = st.lists(st.frozensets(st.integers(-5, 9)), max_size=12)


@given(terms, st.data())
def test_holders_equal_a_scan_of_all_documents(rows, data):
    sources = [data.draw(st.integers(0, 3)) for _ in rows]
    documents = gather([np.array(sorted(row), np.int64) for row in rows], sources)
    wanted = np.array(data.draw(st.permutations(range(-6, 10))), np.int64)
    held = holders(documents, wanted)
    expected = [[number for number, row in enumerate(rows) if term in row] for term in wanted.tolist()]
    assert [numbers.tolist() for numbers in held] == expected
    assert source_counts(documents, held).tolist() == [len({sources[n] for n in numbers}) for numbers in expected]


@given(terms, terms)
def test_counts_of_two_times_merged_are_those_of_both_together(first, second):
    def of(rows: list[frozenset[int]]) -> Counts:
        return counted([np.array(sorted(row), np.int64) for row in rows])

    both, together = merged([of(first), of(second)]), of(first + second)
    assert both.documents == together.documents
    assert both.terms.tolist() == together.terms.tolist()
    assert both.counts.tolist() == together.counts.tolist()


@given(st.data())
def test_each_chosen_term_has_own_documents_and_the_best_comes_first(data):
    count = data.draw(st.integers(1, 12))
    held_by = [np.array(sorted(data.draw(st.frozensets(st.integers(0, 15), min_size=1)))) for _ in range(count)]
    scores = np.array(data.draw(st.lists(st.integers(0, 9), min_size=count, max_size=count)), float)
    keys = [f"word{number}" for number in range(count)]
    cut = data.draw(st.integers(0, 5))

    choices = choose(scores, held_by, keys, most=5, cut=cut)

    shown = [choice.term for choice in choices]
    assert all(scores[term] >= cut and scores[term] > 0 for term in shown)
    assert list(scores[shown]) == sorted(scores[shown], reverse=True)
    held: set[int] = set()
    for term in shown:
        own = set(held_by[term].tolist())
        assert len(own & held) < COVERED * len(own)
        held |= own
    assert len(set(shown)) == len(shown) <= 5
    assert not set(shown) & {other for choice in choices for other in choice.related}


def test_a_phrase_replaces_its_words_if_it_has_enough_of_their_documents():
    held_by = [np.arange(10), np.arange(8), np.arange(3)]
    choices = choose(np.array([9.0, 8.0, 7.0]), held_by, ["cup", "world cup", "world cup final"], most=5)
    assert [choice.term for choice in choices] == [1]


def test_yioop_scores_nothing_but_phrases_and_the_newest_most():
    scores = yioop.item_scores(np.array([0, 1, 3, 1]), np.array([9, 1, 1, 1]), np.array([0.0, 0.5, 4.0, 2.1]))
    assert scores.tolist() == [0.0, 1.0, 0.75, 1 / 3]


def test_yioop_keeps_fifty_of_an_hour_and_so_loses_what_is_steadily_the_fifty_first():
    hours = [dict.fromkeys(range(50 * hour, 50 * hour + 50), 2.0) | {-1: 1.0} for hour in range(3)]
    rows = [yioop.row(hour) for hour in hours]
    assert all(len(row) == 50 for row in rows)
    assert -1 not in yioop.rolled_up(rows)
    assert yioop.rolled_up([{1: 1.0}, {1: 2.0, 2: 1.0}]) == {1: 3.0, 2: 1.0}


# --- a stream of which it is known what trends ------------------------------------------------------------------------
PLACES = (
    "Arden", "Brook", "Calder", "Dunmore", "Elsdon", "Farley", "Garrick", "Halden", "Ilford", "Jarrow", "Kelso",
    "Lundin", "Marlow", "Norden", "Oakham", "Penrith", "Quorn", "Ripley", "Selby", "Tarland", "Upwell", "Vernon",
    "Wexham", "Yarrow", "Zennor", "Ashby", "Bexhill", "Corby", "Dalton", "Epsom",
)  # fmt: skip
THINGS = (
    "Reactor", "Orchestra", "Viaduct", "Glacier", "Satellite", "Cathedral", "Refinery", "Aquarium", "Stadium",
    "Vaccine", "Observatory", "Shipyard", "Treaty", "Pipeline", "Museum", "Volcano", "Harvest", "Election",
    "Tunnel", "Festival", "Comet", "Mutiny", "Strike", "Verdict", "Merger", "Epidemic", "Hoard", "Regatta",
    "Blackout", "Eclipse",
)  # fmt: skip
WAYS = (
    "{0} {1} shocks residents", "What we know about the {0} {1}", "{1} of {0}: officials respond",
    "{0} {1} questions mount", "Witnesses describe {0} {1}", "Experts doubt {0} {1} account",
    "{0} mayor defends {1}", "Inside the {0} {1}", "{0} {1} draws crowds", "Minister visits {0} after {1}",
    "{0} {1} costs climb", "Critics attack {0} {1} handling",
)  # fmt: skip


def own_headlines() -> list[Headline]:
    """Thirty made-up stories of 60 headlines, from ninety publishers."""
    return [
        Headline(way.format(place, thing), f"Publisher {(7 * number + 31 * turn) % 90}", place)
        for number, (place, thing) in enumerate(zip(PLACES, THINGS, strict=True))
        for turn, way in enumerate(WAYS * 5)
    ]


def test_the_same_seed_gives_the_same_stream_and_another_one_does_not():
    headlines = own_headlines()
    stream = make_stream(headlines, seed=1, spam=True)
    assert stream == make_stream(headlines, seed=1, spam=True)
    assert stream != make_stream(headlines, seed=2, spam=True)
    assert [item.at for item in stream.items] == sorted(item.at for item in stream.items)
    calm = make_stream(headlines, seed=1, spam=False)
    assert set(calm.items) < set(stream.items)
    assert calm.onsets == stream.onsets
    assert all(item.at >= stream.onsets[item.story] for item in stream.items if item.story)


@cache
def read_stream(seed: int) -> ReadStream:
    return ReadStream(make_stream(own_headlines(), seed=seed, spam=True))


def test_ours_finds_the_stories_of_a_day_and_hardly_any_background_and_yioop_the_reverse():
    tallies = evaluate(read_stream(1), TRIALS[1:2], ("yioop", "ours"))["day"]
    assert tallies["ours"].recall >= 0.9
    assert tallies["ours"].background_share <= 0.1
    assert tallies["yioop"].recall < 0.8
    assert tallies["yioop"].background_share > 0.5


def test_ours_finds_the_stories_of_a_week_and_hardly_any_background():
    tally = evaluate(read_stream(1), TRIALS[2:3], ("ours",))["week"]["ours"]
    assert tally.recall >= 0.9
    assert tally.background_share <= 0.1


def test_at_the_horizon_of_an_hour_four_of_five_terms_are_of_a_story_that_breaks():
    tally = pooled(evaluate(read_stream(seed), TRIALS[:1], ("ours",)) for seed in (1, 2, 3))["hour"]["ours"]
    assert tally.precision >= 0.8
    assert tally.shown > 100


def test_a_plot_has_a_panel_for_each_horizon_and_escapes_names():
    svg = panels("A & B", "across", "up", {"day": {"<x>": (0.9, 0.5)}, "week": {"ours": (0.1, 0.9)}}, "ours")
    assert "A &amp; B" in svg
    assert "&lt;x&gt;" in svg
    assert svg.count("<circle") == 2


def test_without_a_past_words_of_everyday_news_need_more_documents_than_rare_ones():
    nothing = Past(np.zeros((0, 2), np.int64), np.zeros(0, np.int64))
    values = np.array([9, 9])
    found = rise(values, values, values, 100, nothing, HOUR_HORIZON, prior_shares(["year", "merkel"], "en"))
    assert found.scores[0] < 1.0
    assert found.scores[1] > HOUR_HORIZON.cut


WORD = st.sampled_from(["storm", "bridge", "ferry", "mayor", "rate", "dance"])


@given(st.lists(st.frozensets(WORD, min_size=1, max_size=4), min_size=1, max_size=9))
def test_documents_of_a_topic_share_further_words(texts):
    numbers = {word: number_of(word, 0) for text in texts for word in text}
    words = sorted(numbers)
    rows = [np.array(sorted(numbers[word] for word in text), np.int64) for text in texts]
    held_by = [np.array([place for place, text in enumerate(texts) if word in text]) for word in words]
    found = coherent(gather(rows, list(range(len(texts)))), held_by, words)
    for word, held, is_topic in zip(words, held_by, found.tolist(), strict=True):
        related = [one for one in held if any(one != other and (texts[one] & texts[other]) - {word} for other in held)]
        assert is_topic == (2 * len(related) >= sum(len(texts[one]) > 1 for one in held))


def test_general_news_counts_for_nothing_once_there_is_a_past():
    past = Past(np.full((200, 1), 5), np.full(200, 100))
    values = np.array([30])
    with_prior, without = (
        rise(values, values, values, 100, past, HOUR_HORIZON, prior).expected for prior in (0.0005, 0.09)
    )
    assert with_prior == pytest.approx(without, rel=0.01)
