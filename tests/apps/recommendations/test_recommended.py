"""What is recommended, and why."""

from datetime import timedelta

import pytest

from apps.following.models import Follow
from apps.recommendations import actions
from apps.recommendations.models import Dismissal, Growth, Likeness
from apps.recommendations.queries import recommended, rising
from apps.sources.models import Source
from apps.stories import actions as stories
from tests.builders import NOON, a_follow, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture
def pair() -> tuple[Source, Source]:
    """Two sources that the same four people follow, while six others follow something else."""
    wire, bridge = a_source(title="The Wire", listed=True), a_source(title="The Bridge", listed=True)
    for _ in range(4):
        person = a_user()
        a_follow(person, wire)
        a_follow(person, bridge)
    other = a_source(title="Other", listed=True)
    for _ in range(6):
        a_follow(source=other)
    return wire, bridge


def reasons(person) -> dict[str, tuple]:
    return {str(each.source): each.reason for each in recommended(person, 6)}


def test_feeds_of_similar_followers_are_recommended_with_their_number(pair):
    wire, _ = pair
    person = a_follow(source=wire).user
    assert actions.learn_likenesses() == 2
    found = reasons(person)
    assert list(found) == ["The Bridge"]
    assert (found["The Bridge"].kind, found["The Bridge"].count, found["The Bridge"].about) == (
        "followers",
        4,
        "The Wire",
    )


def test_the_reason_has_the_persons_own_name_for_what_they_follow(pair):
    person = a_follow(source=pair[0], title="Baltimore").user
    actions.learn_likenesses()
    assert reasons(person)["The Bridge"].about == "Baltimore"


def test_followed_dismissed_unlisted_and_ended_feeds_are_not_recommended(pair):
    wire, bridge = pair
    actions.learn_likenesses()
    person = a_follow(source=wire).user
    actions.dismiss(person, bridge.pk, now=NOON)
    actions.dismiss(person, bridge.pk, now=NOON)
    assert not reasons(person)
    Dismissal.objects.all().delete()
    assert reasons(person)
    for change in ({"listed": False}, {"listed": True, "state": "gone"}, {"state": "paused"}):
        Source.objects.filter(pk=bridge.pk).update(**change)
        assert not reasons(person)
    Source.objects.filter(pk=bridge.pk).update(state="active")
    a_follow(person, bridge)
    assert not reasons(person)


def test_two_common_followers_yield_no_likeness():
    one, other = a_source(listed=True), a_source(listed=True)
    for _ in range(2):
        person = a_user()
        a_follow(person, one)
        a_follow(person, other)
    for _ in range(9):
        a_follow()
    assert actions.learn_likenesses() == 0


def test_learning_again_deletes_outdated_rows(pair):
    actions.learn_likenesses()
    assert actions.learn_likenesses() == 2
    Follow.objects.filter(source=pair[1]).delete()
    assert actions.learn_likenesses() == 0
    assert not Likeness.objects.exists()


def grown(source: Source, *, before: int, recent: int) -> None:
    for days, how_many in ((10, before), (2, recent)):
        for _ in range(how_many):
            a_follow(source=source, followed_at=NOON - timedelta(days=days))


def test_feeds_with_more_followers_and_readers_than_before_rise():
    steady, risen, read = (a_source(title=title, listed=True) for title in ("Steady", "Risen", "Read"))
    grown(steady, before=12, recent=12)
    grown(risen, before=2, recent=14)
    grown(read, before=5, recent=5)
    postings = [a_posting(source) for source in (steady, read)]
    for posting, before, recent in ((postings[0], 12, 12), (postings[1], 1, 22)):
        for days, how_many in ((10, before), (2, recent)):
            for _ in range(how_many):
                stories.learning.note_opened(a_user(), posting.pk, now=NOON - timedelta(days=days))
    actions.measure_growth(now=NOON)
    found = {str(each.source): each.reason for each in rising(a_user(), 5)}
    assert set(found) == {"Risen", "Read"}
    assert (found["Risen"].kind, found["Risen"].count) == ("rising", 14)
    assert found["Read"].readers == 22
    actions.measure_growth(now=NOON + 30 * DAY)
    assert not Growth.objects.exists()


# --- both -------------------------------------------------------------------------------------------------------------
def test_reasons_take_turns(pair):
    person = a_follow(source=pair[0]).user
    actions.learn_likenesses()
    for number in range(2):
        Growth.objects.create(source=a_source(title=f"Risen {number}", listed=True), value=3.0, gained=9, opened=1)
    Growth.objects.create(source=pair[1], value=2.0, gained=5, opened=1)
    assert [each.reason.kind for each in recommended(person, 3)] == ["followers", "rising", "rising"]


def test_recommending_costs_three_queries_however_much_there_is(pair, django_assert_max_num_queries):
    person = a_follow(source=pair[0]).user
    actions.learn_likenesses()
    Growth.objects.create(source=a_source(title="Risen", listed=True), value=3.0, gained=9, opened=1)
    with django_assert_max_num_queries(3):
        assert len(recommended(person, 6)) == 2
