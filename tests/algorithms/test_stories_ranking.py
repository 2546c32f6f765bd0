"""What stands above what, and why: stories, sources, and a person's own order."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.stories.algorithms.authority import Record, authorities
from apps.stories.algorithms.features import bucket_of
from apps.stories.algorithms.ranking import MAX_TAKEN, Story, place, ranked, report_worth
from apps.stories.algorithms.taste import Item, Taste, interleaved, item, scores, weight_of

NOW = 1_000.0


def a_story(id: int = 1, **values) -> Story:
    return Story(id, {1: NOW, 2: NOW - 1}, 1)._replace(**values)


def test_every_place_is_the_sum_of_its_addends():
    for each in ranked([a_story(id, category="sport") for id in range(5)], {1: 0.7}, NOW):
        assert each.score == pytest.approx(
            each.coverage + each.freshness + each.authority + each.taste + each.diversity
        )


@given(st.integers(1, 8), st.floats(0, 50))
def test_one_more_source_never_lowers_a_story_and_age_never_lifts_it(sources, hours):
    latest = dict.fromkeys(range(sources), NOW)
    one = place(a_story(latest=latest, lead_source=0), {}, NOW + hours)
    more = place(a_story(latest={**latest, 99: NOW}, lead_source=0), {}, NOW + hours)
    later = place(a_story(latest=latest, lead_source=0), {}, NOW + hours + 1)
    assert more.score > one.score > later.score


def test_of_equal_stories_the_one_of_the_better_source_stands_above():
    order = ranked([a_story(1, lead_source=1), a_story(2, latest={3: NOW, 4: NOW - 1}, lead_source=3)], {3: 0.9}, NOW)
    assert [each.id for each in order] == [2, 1]


def test_stories_of_one_category_do_not_stand_all_together():
    sport = [a_story(id, latest={id: NOW, id + 50: NOW}, lead_source=id, category="sport") for id in range(10, 16)]
    other = a_story(1, latest={1: NOW - 2, 2: NOW - 3}, lead_source=1, category="world")
    order = [each.id for each in ranked([*sport, other], {}, NOW)]
    assert 0 < order.index(1) < 5
    assert all(-MAX_TAKEN <= each.diversity <= 0 for each in ranked([*sport, other], {}, NOW))


@given(st.lists(st.integers(0, 40), max_size=30))
def test_every_story_stands_once(ages):
    stories = [a_story(id, latest={id: NOW - age}, lead_source=id % 3) for id, age in enumerate(ages)]
    assert sorted(each.id for each in ranked(stories, {}, NOW)) == list(range(len(ages)))


def test_the_first_report_with_a_picture_stands_for_its_story():
    plain = report_worth(0.5, is_first=False, is_original=True, has_picture=False)
    assert report_worth(0.5, is_first=True, is_original=True, has_picture=True) > plain
    assert report_worth(0.5, is_first=False, is_original=False, has_picture=False) < plain


# --- sources ----------------------------------------------------------------------------------------------------------
def a_record(**values) -> Record:
    return Record(
        **{
            "reports": 100,
            "in_stories": 50,
            "importance": 200.0,
            "earliness": 0.5,
            "originals": 100,
            "stars": 5,
            "reads": 100,
        }
        | values
    )


@pytest.mark.parametrize(
    ("better", "value"),
    [("importance", 900.0), ("earliness", 0.9), ("in_stories", 90), ("originals", 100), ("stars", 50)],
)
def test_a_source_better_in_one_measure_has_more_authority(better, value):
    usual = a_record(originals=60)
    found = authorities({1: usual._replace(**{better: value}), 2: usual, 3: usual})
    assert found[1].value > found[2].value == found[3].value


def test_sources_without_stories_have_average_authority():
    found = authorities({1: a_record(in_stories=0, importance=0.0), 2: a_record(), 3: a_record(importance=1.0)})
    assert found[1].value == 0.5
    assert authorities({}) == {}
    assert 0 <= min(each.value for each in found.values()) <= max(each.value for each in found.values()) <= 1


def learnt(opinions):
    taste = Taste()
    for each, weight in opinions:
        taste.learn(each, weight)
    return taste


# --- taste ------------------------------------------------------------------------------------------------------------
def an_item(*words: str, source: int = 1) -> Item:
    return item(np.array([bucket_of(word, "en") for word in words], np.int32), source=source)


def test_opened_terms_rise_hidden_ones_sink_and_the_reason_names_them():
    taste = learnt(
        [(an_item("derby", "goal"), 1.0), (an_item("derby", "coach"), 1.0), (an_item("bank", "shares"), -2.0)] * 8
    )
    liking = scores(taste, [an_item("derby", "transfer"), an_item("bank", "profit"), an_item("storm")])
    assert liking[0] > liking[2] > liking[1]
    evidence = dict(zip(an_item("derby", "bank").terms.tolist(), taste.evidence(an_item("derby", "bank")), strict=True))
    assert evidence[bucket_of("derby", "en")] > 0 > evidence[bucket_of("bank", "en")]


def test_a_new_user_has_no_scores():
    assert scores(Taste(), [an_item("derby"), an_item("bank")]).tolist() == [0.0, 0.0]


def test_scores_are_small_while_little_is_known():
    items = [an_item("derby"), an_item("bank")]
    few, many = (learnt([(items[0], 1.0), (items[1], -1.0)] * times) for times in (1, 50))
    assert 0 < scores(few, items)[0] < scores(many, items)[0] < 1


def test_after_a_month_it_counts_half():
    taste = learnt([(an_item("derby"), 1.0)] * 4)
    taste.fade(30.0)
    assert taste.weight == pytest.approx(2.0)
    assert taste.liked[bucket_of("derby", "en")] == pytest.approx(2.0)


def test_memory_of_a_person_is_bounded():
    chance, taste = random.Random(1), Taste()
    for _ in range(400):
        taste.learn(Item.of(chance.randrange(10**6) for _ in range(30)), chance.choice([1.0, -1.0]))
    assert max(len(taste.liked), len(taste.disliked), len(taste.centroid)) <= 6_000


def test_one_dealing_with_a_posting_may_follow_another():
    assert weight_of(opened=True, starred=True, hidden=False) == 3.0
    assert weight_of(opened=True, starred=False, hidden=True) == -1.0


@given(st.permutations(list(range(12))), st.permutations(list(range(12))))
def test_every_fifth_place_is_not_personal_and_everything_stands_once(personal, usual):
    order = interleaved(personal, usual)
    assert sorted(id for id, _ in order) == list(range(12))
    assert [is_usual for _, is_usual in order] == [place % 5 == 0 for place in range(1, 13)]
    assert order[0][0] == personal[0]
    assert order[4][0] == next(id for id in usual if id not in {id for id, _ in order[:4]})
