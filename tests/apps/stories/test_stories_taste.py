"""What people do teaches what they like; switched off, it does not."""

from datetime import timedelta

import pytest

from apps.stories import actions
from apps.stories.actions import consuming
from apps.stories.models import Reaction, Taste
from apps.stories.queries.for_you import explaining_words, own_order
from apps.stories.queries.front import taste_of
from tests.builders import NOON, a_follow, a_mark, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db

LATER = NOON + timedelta(hours=1)


@pytest.fixture(autouse=True)
def nothing_remembered():
    consuming._memory = None


@pytest.fixture
def person():
    return a_user()


@pytest.fixture
def source(person):
    source = a_source(language="en")
    a_follow(person, source)
    return source


def sport(source, number: int, **values):
    return a_posting(source, title=f"Derby goal number {number} wins it for the striker", text="", **values)


def finance(source, number: int, **values):
    return a_posting(source, title=f"Bank shares fall by {number} points as profit shrinks", text="", **values)


def teach(person, source) -> None:
    for number in range(12):
        opened = sport(source, number)
        a_mark(person, opened, read=True)
        actions.learning.note_opened(person, opened.pk, now=NOON)
        actions.learning.hide(person, finance(source, number).pk, hidden=True, now=NOON)
    actions.learning.learn(now=NOON)


def test_postings_like_opened_ones_come_first_and_like_hidden_ones_last(person, source):
    teach(person, source)
    liked, disliked = sport(source, 99), finance(source, 99)
    places = {each.posting_id: each for each in own_order(person, LATER)}
    assert places[liked.pk].taste > 0 > places[disliked.pk].taste
    taste = taste_of(person)
    assert taste is not None
    assert "Derby" in explaining_words(taste, liked.title, "en")
    assert "shares" in explaining_words(taste, disliked.title, "en", liked=False)


def test_hidden_postings_are_not_shown_and_every_fifth_place_is_not_personal(person, source):
    teach(person, source)
    hidden = finance(source, 50)
    actions.learning.hide(person, hidden.pk, hidden=True, now=NOON)
    for number in range(20, 30):
        sport(source, number)
    order = own_order(person, LATER)
    assert hidden.pk not in [each.posting_id for each in order]
    assert [not each.is_personal for each in order] == [place % 5 == 0 for place in range(1, len(order) + 1)]


def test_nothing_is_learnt_twice(person, source):
    posting = sport(source, 1)
    for _ in range(2):
        actions.learning.note_opened(person, posting.pk, now=NOON)
        actions.learning.learn(now=NOON)
    assert Reaction.objects.get(posting=posting).learnt == 1.0
    assert Taste.objects.get().weight == 1.0
    assert actions.learning.learn(now=NOON) == 0


@pytest.mark.parametrize("is_on", [True, False])
def test_where_nothing_is_to_be_learnt_nothing_is_begun(person, source, is_on, django_assert_num_queries):
    seen, new = sport(source, 1), sport(source, 2)
    actions.learning.note_opened(person, seen.pk, now=NOON)
    actions.learning.set_learning(person, is_on=is_on)
    known = list(Reaction.objects.order_by("pk").values())
    with django_assert_num_queries(1):  # a question, and no transaction
        actions.learning.note_opened(person, seen.pk, now=LATER)
    if not is_on:
        with django_assert_num_queries(1):
            actions.learning.note_opened(person, new.pk, now=LATER)
    assert list(Reaction.objects.order_by("pk").values()) == known


def test_opening_teaches_from_postings_passed_over_or_hidden(person, source):
    opened, passed, hidden = (sport(source, number) for number in range(3))
    actions.learning.note_opened(person, opened.pk, now=NOON)
    actions.learning.hide(person, hidden.pk, hidden=True, now=NOON)
    actions.learning.learn(now=NOON)
    for posting in (passed, hidden):
        assert Reaction.objects.get(posting=posting).opened_at is None
        actions.learning.note_opened(person, posting.pk, now=LATER)
        assert Reaction.objects.get(posting=posting).opened_at == LATER


def test_a_star_says_more_and_a_posting_that_was_passed_over_a_little(person, source):
    starred, beside = sport(source, 1), finance(source, 1)
    a_mark(person, starred, starred_at=NOON)
    actions.learning.note_opened(person, starred.pk, now=NOON)
    actions.learning.learn(now=NOON)
    assert Reaction.objects.get(posting=starred).learnt == 3.0
    assert Reaction.objects.get(posting=beside).learnt == -0.2
    actions.learning.note_opened(person, beside.pk, now=NOON)
    actions.learning.learn(now=NOON)
    assert Reaction.objects.get(posting=beside).learnt == 1.0


def test_a_star_that_comes_after_the_opening_is_learnt_too_and_so_is_its_end(person, source):
    posting = sport(source, 1)
    actions.learning.note_opened(person, posting.pk, now=NOON)
    actions.learning.learn(now=NOON)
    mark = a_mark(person, posting, starred_at=NOON)
    for starred_at, weight in ((NOON, 3.0), (None, 1.0)):
        mark.starred_at = starred_at
        mark.save()
        actions.learning.note_all_starred(person, [posting.pk], now=NOON)
        actions.learning.learn(now=NOON)
        assert Reaction.objects.get(posting=posting).learnt == weight


def test_nothing_is_learned_from_readers_who_switched_learning_off(person, source):
    teach(person, source)
    actions.learning.set_learning(person, is_on=False)
    actions.learning.note_opened(person, sport(source, 40).pk, now=NOON)
    assert actions.learning.learn(now=NOON) == 0
    assert taste_of(person) is None
    assert not any(each.is_personal for each in own_order(person, LATER))
    actions.learning.set_learning(person, is_on=True)
    assert taste_of(person) is not None


def test_forgetting_clears_what_was_learned_and_keeps_hidden_postings_hidden(person, source):
    teach(person, source)
    actions.learning.forget_taste(person)
    assert taste_of(person) is None
    assert set(Reaction.objects.values_list("hidden_at", flat=True)) == {NOON}
    assert actions.learning.learn(now=NOON) == 0


def test_reactions_are_forgotten_after_half_a_year(person, source):
    teach(person, source)
    actions.maintaining.maintain(now=NOON + timedelta(days=200))
    assert not Reaction.objects.exists()


def test_tastes_of_two_people_do_not_meet(person, source):
    teach(person, source)
    other = a_user()
    a_follow(other, source)
    assert taste_of(other) is None
