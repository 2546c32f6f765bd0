"""From what people search for to what sources are worth."""

from datetime import timedelta
from math import sqrt

import pytest
from django.core.cache import cache

from apps.accounts.models import User
from apps.alerts import actions, tasks
from apps.alerts.actions.rules import set_importance
from apps.alerts.models import PercolatorQuery, Profile, Relevance
from apps.alerts.queries import interest
from apps.retrieval.models import Plan
from apps.search import actions as search
from apps.search.actions.saved import forget_search, save_search
from apps.search.models import SavedSearch
from apps.sources.models import Source
from tests.builders import NOON, a_posting, a_profile, a_schedule, a_source, a_user

pytestmark = pytest.mark.django_db


def writes(words: str, how_many: int = 3, **values) -> Source:
    source = a_source(listed=True, language="en", **values)
    for number in range(how_many):
        a_posting(source, title=f"Report {number}", text=words, language="en")
    a_schedule(source, due_at=NOON)
    a_profile(source)
    return source


def looked_for(query: str, user: User | None = None, importance: float = 1.0) -> SavedSearch:
    user = user or a_user()
    saved = save_search(user, query, query, order=SavedSearch.Order.NEWEST, now=NOON)
    actions.matching.prepare()
    set_importance(user, saved.pk, importance)
    return saved


def updated_interest() -> dict[int, float]:
    while search.reindexing.consume():
        pass
    actions.weighing.profile_sources(now=NOON)
    while actions.weighing.weigh():
        pass
    actions.weighing.raise_interests()
    return dict(Source.objects.values_list("pk", "interest"))


def a_world():
    others = [writes(f"Cooking with onions number{number}, garlic and butter") for number in range(30)]
    return writes("The hurricane reached Florida with strong winds"), writes("Football results of the league"), others


def test_a_source_that_writes_of_what_is_searched_is_worth_more():
    storms, football, others = a_world()
    looked_for("hurricane florida")
    found = updated_interest()
    assert found[storms.pk] > 2
    assert found[football.pk] == 1
    assert {found[other.pk] for other in others} == {1}


def test_importance_decides_between_sources_in_proportion():
    storms, football, _ = a_world()
    looked_for("hurricane", importance=2)
    looked_for("football", importance=6)
    found = updated_interest()
    relevances = dict(Relevance.objects.values_list("source_id", "value"))
    expected = (2 * relevances[storms.pk]) / (6 * relevances[football.pk])
    assert (found[storms.pk] - 1) / (found[football.pk] - 1) == pytest.approx(expected, abs=0.02)


def test_others_lose_no_more_than_their_share_however_many_search():
    storms, _, _ = a_world()
    for _ in range(20):
        looked_for("hurricane", importance=10)
    claims = interest.claims()
    found = updated_interest()
    assert sum(claims.values()) / sum(claim * sqrt(found[id]) for id, claim in claims.items()) >= 0.9
    assert found[storms.pk] > 1


def test_an_admin_can_forbid_it():
    storms, _, _ = a_world()
    Plan.objects.update_or_create(pk=1, defaults={"interest_share": 0.0})
    looked_for("hurricane")
    assert updated_interest()[storms.pk] == 1


def test_without_searches_all_interest_is_one():
    storms, _, _ = a_world()
    saved = looked_for("hurricane")
    assert updated_interest()[storms.pk] > 1
    forget_search(saved.user, saved.pk)
    assert set(updated_interest().values()) == {1}


def test_a_search_of_no_importance_raises_nothing():
    storms, _, _ = a_world()
    saved = looked_for("hurricane", importance=0)
    assert updated_interest()[storms.pk] == 1
    assert interest.raised_by(saved, NOON) == []


def test_changed_query_is_weighed_again():
    storms, football, _ = a_world()
    saved = looked_for("hurricane")
    updated_interest()
    save_search(saved.user, saved.name, "football", order=SavedSearch.Order.NEWEST, now=NOON)
    actions.matching.prepare()
    found = updated_interest()
    assert found[storms.pk] == 1
    assert found[football.pk] > 1


def test_it_is_shown_which_sources_a_search_raises_and_which_searches_a_source():
    storms, _, _ = a_world()
    saved, _ = looked_for("hurricane"), looked_for("hurricane florida")
    updated_interest()
    [raised] = interest.raised_by(saved, NOON)
    assert (raised.source_id, raised.title) == (storms.pk, storms.title)
    assert 0 < raised.share < 1
    raising = interest.raising(storms.pk, saved.user)
    assert [name for _, name, _ in raising.own] == ["hurricane"]
    assert raising.others == 1


def test_index_pages_are_worth_as_much_as_their_site():
    storms, _, _ = a_world()
    page = a_source(kind="index", site=storms)
    looked_for("hurricane")
    found = updated_interest()
    assert found[page.pk] == found[storms.pk] > 1


def test_repeated_update_changes_nothing(django_assert_max_num_queries):
    a_world()
    looked_for("hurricane")
    updated_interest()
    before = list(Relevance.objects.values_list("saved_id", "source_id", "value"))
    assert actions.weighing.weigh() == 0
    assert actions.weighing.raise_interests() == 0
    PercolatorQuery.objects.update(weighed="")
    with django_assert_max_num_queries(20):
        assert actions.weighing.weigh() == 1
    assert list(Relevance.objects.values_list("saved_id", "source_id", "value")) == before


def test_interest_follows_a_change_of_searches_and_rests_otherwise(django_capture_on_commit_callbacks):
    storms, _, _ = a_world()
    saved = looked_for("hurricane")
    while search.reindexing.consume():
        pass

    def interest_after_weighing() -> float:
        tasks.weigh()
        storms.refresh_from_db()
        return storms.interest

    cache.clear()
    assert interest_after_weighing() > 1
    Source.objects.update(interest=1)
    assert interest_after_weighing() == 1  # nothing has changed that it would see
    set_importance(saved.user, saved.pk, 2.0)
    assert interest_after_weighing() > 1
    with django_capture_on_commit_callbacks(execute=True):
        forget_search(saved.user, saved.pk)
        actions.matching.prepare()
    assert interest_after_weighing() == 1


def test_sources_of_which_little_is_known_are_read_again_after_an_hour():

    source = writes("One report", how_many=1)
    assert interest.unread_sources(NOON, 10) == [source.pk]
    updated_interest()
    assert Profile.objects.get().documents == 1
    assert interest.unread_sources(NOON, 10) == []
    assert interest.unread_sources(NOON + timedelta(hours=2), 10) == [source.pk]
