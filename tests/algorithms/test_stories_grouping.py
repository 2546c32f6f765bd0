"""Postings fall into stories as a slow twin says, copies are folded, and ids stay."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.postings.algorithms.fingerprints import Duplicates, fingerprint
from apps.stories.algorithms import clusters
from apps.stories.algorithms.agreement import CHANCE_AMONG_MANY, abundance
from apps.stories.algorithms.clusters import Cluster, Clusters
from apps.stories.algorithms.features import features
from apps.stories.algorithms.grouping import Grouping
from apps.stories.algorithms.rarity import BLOCK, HEAVIEST, KNOWN, LAG, MEMORY, PRIOR, Block, Rarity, news_counts
from apps.stories.algorithms.reports import Report, Vector, added, heaviest, subtracted
from lab.evaluations.stories.measures import bcubed

WORDS = (
    "storm",
    "flood",
    "lisbon",
    "budget",
    "vote",
    "minister",
    "shares",
    "bank",
    "derby",
    "goal",
    "virus",
    "vaccine",
)


def a_vector(*terms: int) -> Vector:
    weights = np.ones(len(terms), np.float32)
    return heaviest(np.array(terms, np.int32), weights / np.linalg.norm(weights), 96)


def a_report(chance: random.Random) -> str:
    topic = chance.randrange(4) * 3
    return " ".join(chance.choices(WORDS[topic : topic + 3], k=3) + chance.choices(WORDS, k=2))


# --- clusters ---------------------------------------------------------------------------------------------------------
def product(one: Vector, other: Vector) -> float:
    weights = dict(zip(other.terms.tolist(), other.weights.tolist(), strict=True))
    return sum(
        weight * weights.get(term, 0.0) for term, weight in zip(one.terms.tolist(), one.weights.tolist(), strict=True)
    )


def slow_likeness(vector: Vector, cluster: Cluster, hours: float, active: list[Cluster]) -> float:
    """As the documentation has it, with dictionaries and all active stories."""
    total = sum(each.size for each in active)

    def by_chance(one: Vector, size: int) -> float:
        found = sum(product(one, each.vector) for each in active) / size
        weight = clusters.CHANCE_WEIGHT
        mean = (found + clusters.CHANCE * weight) / (total + weight) + clusters.CHANCE_FLOOR
        return max(mean, CHANCE_AMONG_MANY * abundance(len(active)))

    fresh = sum(each.size * 2 ** ((each.centre - hours) / 48) for each in active) + clusters.FRESH_WEIGHT
    gap = (abs(hours - cluster.latest) + abs(hours - cluster.centre)) / 2
    likeness = product(vector, cluster.vector) / cluster.size * (0.15 + 0.85 * 2 ** (-gap / 48))
    likeness /= (by_chance(vector, 1) * by_chance(cluster.vector, cluster.size)) ** 0.5
    return likeness / (0.15 + 0.85 * min(fresh / (total + clusters.FRESH_WEIGHT), 1.0))


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_the_nearest_story_is_the_one_that_comparing_with_all_of_them_finds(seed):
    chance = random.Random(seed)
    found, held, hours = Clusters(threshold=2.0, nearest_report=0.0), {}, 0.0
    for id in range(1, 60):
        hours += chance.uniform(0, 20)
        vector = a_vector(*sorted(chance.sample(range(30), chance.randint(1, 6))))
        near = {
            other: likeness
            for other, cluster in held.items()
            if hours - cluster.latest <= clusters.ACTIVE
            and set(vector.terms) & set(cluster.vector.terms)
            and (likeness := slow_likeness(vector, cluster, hours, list(held.values()))) >= found.threshold
        }
        nearest = found.nearest(vector, hours)
        assert (nearest is None) == (not near)
        if nearest is not None:
            assert nearest[1] == pytest.approx(max(near.values()), rel=1e-3)
            assert near[nearest[0]] == pytest.approx(nearest[1], rel=1e-3)
        joined = found.add(id, id, vector, hours)
        held[joined] = found.get(joined)
        if chance.random() < 0.1:
            for gone in found.expire(hours):
                del held[gone]
    assert len(found) == len(held)


def test_a_story_without_a_posting_for_a_week_takes_no_other():
    found = Clusters()
    assert found.add(1, 1, a_vector(1, 2), 0.0) == 1
    assert found.add(2, 2, a_vector(1, 2), 7 * 24 + 1.0) == 2
    assert found.expire(7 * 24 + 1.0) == [1]
    assert 1 not in found


def test_of_two_stories_that_are_united_the_older_id_stays():
    found = Clusters()
    for id in (7, 4):
        found.put(Cluster(id, a_vector(1, 2, 3), 1, 10.0, 10.0))
    found.put(Cluster(9, a_vector(20, 21), 1, 10.0, 10.0))
    assert found.merge({7}, 12.0) == [(7, 4)]
    assert found.get(4).size == 2
    assert 9 in found
    assert found.merge({4}, 12.0) == []


def test_stories_of_which_none_got_a_posting_are_not_united():
    found = Clusters()
    for id in (1, 2):
        found.put(Cluster(id, a_vector(1, 2, 3), 1, 10.0, 10.0))
    assert found.merge({3}, 12.0) == []
    assert found.merge({2}, 200.0) == []  # too long ago


def test_a_posting_does_not_join_a_story_of_which_no_report_is_similar_to_it():
    """The mean of many reports has a bit of everything: without the nearest report, it would collect all."""
    joined = []
    for nearest_report in (0.0, clusters.NEAREST_REPORT):
        found = Clusters(threshold=2.0, nearest_report=nearest_report)
        for number in range(8):
            vector = a_vector(*range(20 * number, 20 * number + 9), 500 + number)
            if number:
                found._join(1, Cluster(0, vector, 1, 10.0, 10.0))
            else:
                found.put(Cluster(1, vector, 1, 10.0, 10.0))
            found.reports.add(1, Report(number, vector, 10.0))
        joined.append(found.add(2, 9, a_vector(*range(500, 508)), 10.0))
    assert joined == [1, 2]


def test_a_story_that_has_become_two_is_split_and_the_earlier_half_keeps_its_id():
    grouping = Grouping()
    grouping.next_story = 2
    for key in range(24):
        terms = (1, 2, 3, 4) if key < 12 else (4, 7, 8, 9)
        part = Cluster(1, a_vector(*terms, 100 + key), 1, float(key), float(key))
        if key:
            grouping.clusters._join(1, part)
        else:
            grouping.clusters.put(part)
        grouping.clusters.reports.add(1, Report(key, part.vector, float(key)))
    grouping.clock, grouping.touched = 24.0, {1}
    settled = grouping.settle(at_once=True)
    assert dict(settled.moved) == dict.fromkeys(range(12, 24), 2)
    assert [report.key for report in grouping.clusters.reports.latest(1)] == list(range(12))
    assert grouping.clusters.get(2).size == 12
    assert not [id for id in grouping.clusters if id > 2]


def test_adding_and_removing_a_posting_leaves_the_story_unchanged():
    found = Clusters(threshold=0.0, nearest_report=0.0)
    found.add(1, 1, a_vector(1, 2, 3), 10.0)
    before = found.get(1)
    found.add(2, 2, a_vector(3, 4), 14.0)
    found.take_out(1, 2, a_vector(3, 4), 14.0)
    after = found.get(1)
    assert sorted(after.vector.terms) == sorted(before.vector.terms)
    assert after.vector.length == pytest.approx(before.vector.length, rel=1e-5)
    assert (after.size, after.centre) == (1, 10.0)
    found.take_out(1, 1, a_vector(1, 2, 3), 10.0)
    assert 1 not in found


@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=8, unique=True),
    st.lists(st.integers(0, 20), min_size=1, max_size=8, unique=True),
)
def test_a_sum_less_one_of_its_parts_is_the_other(one, other):
    rest = subtracted(added(a_vector(*one), a_vector(*other), 48), a_vector(*other))
    weights = dict(zip(rest.terms.tolist(), rest.weights.tolist(), strict=True))
    assert weights == pytest.approx(dict.fromkeys(one, len(one) ** -0.5), rel=1e-4)


# --- copies -----------------------------------------------------------------------------------------------------------
@given(st.integers(0, 10_000))
@settings(max_examples=25)
def test_copies_are_found_as_comparing_with_all_fingerprints_finds_them(seed):
    chance = random.Random(seed)
    duplicates, held = Duplicates(), {}
    texts = [[str(chance.randrange(1000)) for _ in range(40)] for _ in range(5)]
    for key in range(60):
        words = list(chance.choice(texts))
        for _ in range(chance.choice([0, 0, 1, 8])):
            words[chance.randrange(40)] = str(chance.randrange(1000))
        found, hours = fingerprint(words), chance.uniform(0, 100)
        alike = {
            other: float(np.mean(found == known))
            for other, (at, known) in held.items()
            if abs(at - hours) <= 48 and any((found[at : at + 4] == known[at : at + 4]).all() for at in range(0, 32, 4))
        }
        best = max(alike, key=lambda other: (alike[other], -other), default=None)
        assert duplicates.find(hours, found) == (best if best is not None and alike[best] >= 0.8 else None)
        duplicates.add(key, hours, found)
        held[key] = (hours, found)
        if chance.random() < 0.3:
            gone = chance.choice(list(held))
            duplicates.remove(gone)
            del held[gone]
    assert [key for key in range(60) if key in duplicates] == sorted(held)


def test_the_estimate_of_likeness_is_near_the_share_of_common_shingles():
    chance = random.Random(3)
    errors = []
    for _ in range(200):
        words = [str(chance.randrange(5000)) for _ in range(60)]
        other = list(words)
        for _ in range(chance.randint(0, 6)):
            other[chance.randrange(60)] = "changed"
        one, two = ({tuple(text[at : at + 4]) for at in range(57)} for text in (words, other))
        errors.append(float(np.mean(fingerprint(words) == fingerprint(other))) - len(one & two) / len(one | two))
    assert abs(float(np.mean(errors))) < 0.02
    assert float(np.std(errors)) < 0.1


def test_a_text_of_few_words_is_no_copy_and_what_returns_after_days_is_none_either():
    duplicates = Duplicates()
    duplicates.add(1, 0.0, fingerprint(["morning", "briefing"]))
    assert duplicates.find(1.0, fingerprint(["morning", "briefing"])) is None
    column = fingerprint(["what", "to", "see", "and", "do", "on", "monday"])
    duplicates.add(2, 0.0, column)
    assert duplicates.find(47.0, column) == 2
    assert duplicates.find(49.0, column) is None


# --- rarity -----------------------------------------------------------------------------------------------------------
@given(st.integers(0, 10_000))
@settings(max_examples=8)
def test_weights_equal_those_of_counting_from_scratch(seed):
    chance = random.Random(seed)
    rarity, seen, now = Rarity(), [], 0.0
    for _ in range(60):
        now += chance.choice([0.0, 1.0, 5.0, 30.0])
        hours = max(now - chance.choice([0.0, 0.0, 20.0]), 0.0)
        found = features(a_report(chance), "", "en")
        rarity.advance(now)
        recent_from = (now - LAG) // BLOCK
        old = [each for at, each in seen if recent_from - MEMORY // BLOCK <= at // BLOCK < recent_from]
        recent = [each for at, each in seen if at // BLOCK >= recent_from]
        assert rarity.weights(found) == pytest.approx(slow_weights(found, old, recent), rel=1e-4)
        rarity.add(hours, found)
        seen.append((hours, found))


def slow_weights(found, old, recent):
    weights = []
    for term, emphasis in zip(found.terms, found.emphasis, strict=True):
        before, seen = (sum(term in each.terms for each in some) for some in (old, recent))
        history = min(1.0, len(old) / KNOWN)
        documents, assumed = news_counts("en", np.array([term]))
        expected = max(0.5, len(recent) * (before + 0.5) / (len(old) + PRIOR))
        rise = 0.0
        if seen >= 3 and seen > expected:
            rise = (2 * (seen * np.log(seen / expected) - (seen - expected))) ** 0.5
        holding = assumed[0] + before + (1 - history) * seen
        documents += len(old) + (1 - history) * len(recent)
        weights.append(emphasis * np.log((documents + PRIOR + 1) / (holding + 1.5) + 1))
        weights[-1] *= 1 + history * min(1.0, rise / 6)
    bounded = np.minimum(np.array(weights) / np.linalg.norm(weights), HEAVIEST)
    return bounded / np.linalg.norm(bounded)


def test_a_word_of_the_latest_hours_stays_rare_and_rises():
    rarity = Rarity()
    usual, fresh = features("shares bank", "", "en"), features("storm lisbon", "", "en")
    for posting in range(2_000):
        rarity.advance(posting / 10)
        rarity.add(posting / 10, usual)
    for _ in range(40):
        rarity.add(199.9, fresh)
    assert rarity.rise(fresh).min() > 5
    assert rarity.rise(usual).max() == 0


def test_while_little_was_read_no_word_is_boosted():
    rarity, few, many = Rarity(), features("storm lisbon", "", "en"), features("shares bank", "", "en")
    for _ in range(20):
        rarity.add(0.0, few)
    assert rarity.rise(few).min() > 5
    both = features("storm shares", "", "en")
    assert rarity.weights(both) == pytest.approx(rarity.weights(both, boost=False))
    for _ in range(500):
        rarity.add(0.0, many)
    rarity.advance(24.0)
    for _ in range(20):
        rarity.add(24.0, few)
    assert rarity.weights(both) != pytest.approx(rarity.weights(both, boost=False), rel=0.1)


def test_blocks_older_than_four_weeks_are_dropped():
    rarity = Rarity()
    found = features("storm lisbon", "", "en")
    for hours in (0.0, 40 * 24.0):
        rarity.advance(hours)
        rarity.add(hours, found)
    assert len(rarity.blocks) == 1
    assert rarity.merge(0, Block()) is False


# --- all together -----------------------------------------------------------------------------------------------------
def test_reports_of_two_events_fall_into_two_stories_and_a_copy_counts_once():
    grouping = Grouping()
    titles = (
        "Storm floods the streets of Lisbon on Friday night",
        "Parliament rejects the budget of the finance minister",
        "Streets of Lisbon flooded after heavy storm",
        "Storm floods the streets of Lisbon on Friday night",
        "Finance minister loses vote on budget in parliament",
    )
    stories, copies = [], []
    for key, title in enumerate(titles):
        found = features(title, "", "en")
        grouping.advance(float(key))
        placed = grouping.place(key, float(key), found)
        grouping.settle()
        grouping.rarity.add(float(key), found)
        stories.append(placed.story)
        copies.append(placed.copy_of)
    assert stories == [1, 2, 1, 1, 2]
    assert copies == [None, None, None, 0, None]
    assert grouping.clusters.get(1).size == 2


@pytest.mark.parametrize(
    "title",
    [
        "Live updates: storm floods the streets of Lisbon",
        "5 things to know on storm in streets of Lisbon flooded",
        "Correction: storm floods the streets of Lisbon",
        "Corrections and clarifications on the streets of Lisbon",
        "Weather Roundup: storm floods the streets of Lisbon",
        "Lisbon storm",
        "早报：里斯本街头暴雨成灾",
    ],
)
def test_lists_and_short_postings_are_only_in_stories_of_their_copies(title):
    grouping = Grouping()
    flood = features("Storm floods the streets of Lisbon on Friday night", "", "en")
    listed = features(title, "" if len(title) < 20 else "The storm has flooded the streets of Lisbon tonight.", "en")
    stories = []
    for key, found in enumerate((flood, listed, listed, flood)):
        grouping.advance(float(key))
        stories.append(grouping.place(key, float(key), found).story)
    assert listed.stands_alone
    assert stories[1] not in {stories[0], stories[3]}
    assert stories[0] == stories[3]
    if listed.fingerprint.size:
        assert stories[2] == stories[1]


def test_stories_keep_to_one_language():
    grouping = Grouping()
    english = grouping.place(1, 0.0, features("Angela Merkel Bundestag Berlin", "", "en"))
    german = grouping.place(2, 0.0, features("Angela Merkel Bundestag Berlin", "", "de"))
    assert english.story != german.story


def test_a_removed_posting_is_no_longer_an_original():
    grouping = Grouping()
    found = features("Storm floods the streets of Lisbon on Friday night", "", "en")
    placed = grouping.place(1, 0.0, found)
    assert placed.vector is not None
    grouping.take_out(1, placed.story, placed.vector, 0.0)
    again = grouping.place(2, 1.0, found)
    assert again.copy_of is None
    assert again.story != placed.story


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_bcubed_is_the_mean_over_items_that_its_definition_says(labels, chance):
    put = [chance.randrange(3) for _ in labels]
    items = range(len(labels))
    precision = [
        sum(labels[i] == labels[j] for j in items if put[i] == put[j]) / sum(put[i] == put[j] for j in items)
        for i in items
    ]
    recall = [
        sum(put[i] == put[j] for j in items if labels[i] == labels[j]) / sum(labels[i] == labels[j] for j in items)
        for i in items
    ]
    found = bcubed(put, labels)
    assert found.precision == pytest.approx(np.mean(precision))
    assert found.recall == pytest.approx(np.mean(recall))


def test_bcubed_of_nothing_is_refused():
    with pytest.raises(ValueError, match="0 clusters"):
        bcubed([], [])
