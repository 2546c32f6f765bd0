"""What is recommended, and why."""

from datetime import timedelta

import pytest

from apps.following.models import Follow
from apps.recommendations import actions
from apps.recommendations.models import Dismissal, Growth, Likeness, Match, Sketch
from apps.recommendations.queries import READ_AGAIN_AFTER, recommended, rising
from apps.sources.models import Source
from apps.stories import actions as stories
from apps.stories.actions import consuming
from apps.stories.models import Taste
from tests.builders import NOON, a_follow, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def nothing_remembered():
    consuming._memory = None


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


def test_what_those_follow_who_follow_the_same_is_recommended_with_how_many_they_are(pair):
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


def test_what_is_followed_dismissed_unlisted_or_over_is_not_recommended(pair):
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


def test_learning_again_forgets_what_is_no_longer_so(pair):
    actions.learn_likenesses()
    assert actions.learn_likenesses() == 2
    Follow.objects.filter(source=pair[1]).delete()
    assert actions.learn_likenesses() == 0
    assert not Likeness.objects.exists()


def grown(source: Source, *, before: int, recent: int) -> None:
    for days, how_many in ((10, before), (2, recent)):
        for _ in range(how_many):
            a_follow(source=source, followed_at=NOON - timedelta(days=days))


def test_what_is_followed_more_than_before_rises_and_what_is_read_does_too():
    steady, risen, read = (a_source(title=title, listed=True) for title in ("Steady", "Risen", "Read"))
    grown(steady, before=12, recent=12)
    grown(risen, before=2, recent=14)
    grown(read, before=5, recent=5)
    postings = [a_posting(source) for source in (steady, read)]
    for posting, before, recent in ((postings[0], 12, 12), (postings[1], 1, 22)):
        for days, how_many in ((10, before), (2, recent)):
            for _ in range(how_many):
                stories.note_opened(a_user(), posting.pk, now=NOON - timedelta(days=days))
    actions.measure_growth(now=NOON)
    found = {str(each.source): each.reason for each in rising(a_user(), 5)}
    assert set(found) == {"Risen", "Read"}
    assert (found["Risen"].kind, found["Risen"].count) == ("rising", 14)
    assert found["Read"].readers == 22
    actions.measure_growth(now=NOON + 30 * DAY)
    assert not Growth.objects.exists()


# --- by what is read --------------------------------------------------------------------------------------------------
def derby(source: Source, number: int):
    title = f"Derby goal number {number} wins it for the striker"
    return a_posting(source, title=title, text="The striker scored in the derby.", language="en")


def shares(source: Source, number: int):
    title = f"Bank shares fall by {number} points as profit shrinks"
    return a_posting(source, title=title, text="Shares of the bank fell.", language="en")


@pytest.fixture
def fan():
    """A user who reads sport, of a source that they follow."""
    follow = a_follow()
    for number in range(12):
        stories.note_opened(follow.user, derby(follow.source, number).pk, now=NOON)
        stories.hide(follow.user, shares(follow.source, number).pk, hidden=True, now=NOON)
    while stories.learn(now=NOON):
        pass
    return follow.user


@pytest.fixture
def papers() -> tuple[Source, Source]:
    sport, money = a_source(title="Sport", listed=True), a_source(title="Money", listed=True)
    for number in range(5):
        derby(sport, 50 + number)
        shares(money, 50 + number)
    return sport, money


def test_source_on_topics_of_a_user_is_recommended_with_words(fan, papers):
    assert actions.sketch_sources(now=NOON) == 2
    assert actions.match_people(now=NOON) == 1
    found = reasons(fan)
    assert list(found) == ["Sport"]
    assert found["Sport"].kind == "reading"
    assert {word.lower() for word in found["Sport"].words} & {"derby", "striker", "goal"}


def test_sources_and_users_are_processed_once_a_day(fan, papers):
    assert (actions.sketch_sources(now=NOON), actions.match_people(now=NOON)) == (2, 1)
    assert (actions.sketch_sources(now=NOON + DAY / 2), actions.match_people(now=NOON + DAY / 2)) == (0, 0)
    later = NOON + READ_AGAIN_AFTER + DAY
    assert (actions.sketch_sources(now=later), actions.match_people(now=later)) == (2, 1)
    assert Sketch.objects.count() == 2


def test_of_who_switched_learning_off_nothing_is_used(fan, papers):
    actions.sketch_sources(now=NOON)
    actions.match_people(now=NOON)
    Taste.objects.update(is_on=False)
    assert not reasons(fan)
    assert actions.match_people(now=NOON + 9 * DAY) == 0


def test_reasons_take_turns(fan, papers, pair):
    a_follow(fan, pair[0])
    actions.learn_likenesses()
    actions.sketch_sources(now=NOON)
    actions.match_people(now=NOON)
    Growth.objects.create(source=a_source(title="Risen", listed=True), value=3.0, gained=9, opened=1)
    assert [each.reason.kind for each in recommended(fan, 3)] == ["followers", "reading", "rising"]
    assert Match.objects.filter(user=fan).exists()


def test_recommending_costs_four_queries_however_much_there_is(fan, papers, pair, django_assert_max_num_queries):
    a_follow(fan, pair[0])
    actions.learn_likenesses()
    actions.sketch_sources(now=NOON)
    actions.match_people(now=NOON)
    with django_assert_max_num_queries(4):
        assert len(recommended(fan, 6)) == 2
