"""Words of a person's own for postings."""

from datetime import timedelta

import pytest

from apps.following.actions.errors import NotPossible
from apps.following.actions.marks import MAX_TAGS, rename_tag, tag, tag_for_all, untag
from apps.following.actions.restoring import restore_tags
from apps.following.models import Tag, Tagging
from tests.builders import NOON, a_posting, a_user

pytestmark = pytest.mark.django_db


def tags():
    return {(row.tag.user_id, row.tag.name, row.posting_id) for row in Tagging.objects.select_related("tag")}


def test_a_tag_is_put_on_postings_and_taken_off_again():
    user, first, second = a_user(), a_posting(), a_posting()
    tag(user, [first.pk, second.pk], " to   read ", NOON)
    assert tags() == {(user.pk, "to read", first.pk), (user.pk, "to read", second.pk)}
    untag(user, [first.pk], "to read ")
    assert tags() == {(user.pk, "to read", second.pk)}


def test_tagging_twice_changes_nothing():
    user, posting = a_user(), a_posting()
    tag(user, [posting.pk], "news", NOON)
    tag(user, [posting.pk, posting.pk], "news", NOON + timedelta(days=1))
    assert Tagging.objects.get().tagged_at == NOON
    assert Tag.objects.count() == 1


def test_a_tag_is_the_same_whatever_its_case():
    user, first, second = a_user(), a_posting(), a_posting()
    tag(user, [first.pk], "Örtlich", NOON)
    tag(user, [second.pk], "örtlich", NOON)
    restore_tags(user, [("ÖRTLICH", first.pk, NOON), ("other", None, NOON)])
    assert tags() == {(user.pk, "Örtlich", first.pk), (user.pk, "Örtlich", second.pk)}
    rename_tag(user, Tag.objects.get(name="Örtlich").pk, "örtlich")
    with pytest.raises(NotPossible, match="already exists"):
        rename_tag(user, Tag.objects.get(name="other").pk, "Örtlich")
    untag(user, [first.pk, second.pk], "ÖRTLICH")
    assert tags() == set()


def test_users_have_separate_tags():
    one, other, posting = a_user(), a_user(), a_posting()
    tag(one, [posting.pk], "news", NOON)
    tag(other, [posting.pk], "news", NOON)
    untag(one, [posting.pk], "news")
    assert tags() == {(other.pk, "news", posting.pk)}


def test_many_people_tag_at_once():
    one, other, posting = a_user(), a_user(), a_posting()
    tagged = {(one.pk, "a", posting.pk), (one.pk, "b", posting.pk), (other.pk, "a", posting.pk)}
    tag(one, [posting.pk], "a", NOON)
    tag_for_all([(*each, NOON) for each in tagged])
    assert tags() == tagged


@pytest.mark.parametrize(("name", "complaint"), [(" ", "needs a name"), ("x" * 51, "at most 50 characters")])
def test_a_tag_has_a_name_of_some_letters(name, complaint):
    with pytest.raises(NotPossible, match=complaint):
        tag(a_user(), [a_posting().pk], name, NOON)


def test_tags_of_a_person_are_bounded():
    user, posting = a_user(), a_posting()
    Tag.objects.bulk_create([Tag(user=user, name=str(number)) for number in range(MAX_TAGS)])
    tag(user, [posting.pk], "7", NOON)
    with pytest.raises(NotPossible, match="at most 500 tags"):
        tag(user, [posting.pk], "one more", NOON)
