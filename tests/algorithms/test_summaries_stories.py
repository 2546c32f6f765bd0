"""Summaries of several texts about one event."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.summaries.algorithms.ranking import contents, openings
from apps.summaries.algorithms.stories import REPEATED, story_summary
from apps.summaries.algorithms.texts import Sentence, Text, read
from apps.summaries.algorithms.vectors import Frequencies, occurrences, vectors

TERMS = st.sampled_from(["storm", "harbour", "bridge", "ferry", "mayor", "reopened"])
TEXT = st.lists(st.tuples(st.lists(TERMS, max_size=5), st.integers(1, 30)), max_size=5).map(
    lambda parts: Text(tuple(Sentence(0, 1, float(words), tuple(terms)) for terms, words in parts))
)


ROUNDING = 1e-9


def is_allowed(texts: list[Text], words: float, found: frozenset[tuple[int, int]]) -> bool:
    """Whether maximal marginal relevance, with every cosine computed whenever it is needed, may choose the sentences.

    There is an order in which each is the best of those left, except for rounding.
    """
    frequencies = Frequencies()
    places = [(one, two) for one, text in enumerate(texts) for two in range(len(text.sentences))]
    rows = vectors(occurrences([texts[one].sentences[two].terms for one, two in places]), frequencies)
    row = {place: rows.row(number) for number, place in enumerate(places)}

    def scaled(values: dict[tuple[int, int], float]) -> dict[tuple[int, int], float]:
        most = max(values.values(), default=0.0)
        return {place: value / most for place, value in values.items()} if most > 0 else values

    own: dict[tuple[int, int], float] = {}
    for one, text in enumerate(texts):
        worth = contents(text, frequencies) + openings(text)
        own |= scaled({(one, two): float(value) for two, value in enumerate(worth)})
    shared = scaled({place: sum(float(row[place] @ row[other]) for other in places if other[0] != place[0])
                     for place in places})  # fmt: skip

    @cache
    def leads_to_found(taken: frozenset[tuple[int, int]]) -> bool:
        nearest = {place: max((float(row[place] @ row[other]) for other in taken), default=0.0) for place in places}
        marginal = {place: 0.85 * (own[place] + shared[place]) - 0.15 * nearest[place] for place in places}
        left = [place for place in places if place not in taken and nearest[place] < REPEATED - ROUNDING]
        is_long_enough = len(taken) == 5 or sum(texts[one].sentences[two].words for one, two in taken) >= words
        if is_long_enough or taken == found:
            return taken == found and (is_long_enough or not left)
        best = max((marginal[place] for place in left), default=-np.inf)
        return any(
            leads_to_found(taken | {place})
            for place in found - taken
            if nearest[place] < REPEATED + ROUNDING and marginal[place] > best - ROUNDING
        )

    return leads_to_found(frozenset())


@given(st.lists(TEXT, max_size=3), st.integers(1, 60))
def test_story_summary_is_chosen_by_maximal_marginal_relevance(texts: list[Text], words: int):
    found = [(each.text, each.sentence) for each in story_summary(texts, Frequencies(), words)]
    assert found == sorted(set(found))
    assert is_allowed(texts, words, frozenset(found))


@given(st.lists(TEXT, max_size=4), st.integers(1, 80))
def test_story_summary_has_no_repetitions(texts: list[Text], words: int):
    found = story_summary(texts, Frequencies(), words)
    chosen = [texts[each.text].sentences[each.sentence].terms for each in found]
    rows = vectors(occurrences(chosen), Frequencies())
    for number in range(len(chosen)):
        alike = rows.products(rows.row(number))
        assert np.all(np.delete(alike, number) < REPEATED + 1e-9)


def test_each_source_adds_what_only_it_knows():
    texts = [
        read("A storm closed the harbour bridge. The mayor was in Rome.", "en"),
        read("The harbour bridge was closed by a storm. Two ferries replace it until Friday.", "en"),
        read("A storm closed the harbour bridge. Divers look for a lost pillar of stone.", "en"),
    ]
    found = story_summary(texts, Frequencies(), words=100)
    assert sum(each.sentence == 0 for each in found) == 1
    assert {each.text for each in found if each.sentence == 1} == {0, 1, 2}
    assert found == sorted(found)


def test_a_story_has_five_sentences_at_most():
    text = "A storm came. Nine ferries wait. Divers search pillars. Bakers sell bread. Snow fell. Judges met."
    assert len(story_summary([read(text, "en")], Frequencies(), words=100)) == 5


def test_story_without_sentences_is_empty_and_zero_length_is_refused():
    assert story_summary([], Frequencies(), 50) == story_summary([read("", "en")], Frequencies(), 50) == []
    with pytest.raises(ValueError, match="above 0, not 0"):
        story_summary([], Frequencies(), 0)
