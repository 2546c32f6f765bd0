"""Rules without the query language: what they do, what their preview shows, and what deleting them restores."""

import pytest
from django.urls import reverse
from django.utils.timezone import now
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.alerts.actions import matching
from apps.alerts.actions.plain_rules import MAX_RULES, forget_plain_rule, parsed, save_plain_rule
from apps.alerts.algorithms.plain_rules import PlainRule
from apps.alerts.models import Hit, PercolatorQuery, Rule
from apps.following.actions.errors import NotPossible
from apps.following.actions.marks import mark_read
from apps.following.models import Mark
from apps.following.queries import Scope, unread_counts
from apps.following.queries.listing import positions
from apps.reading.pages.rules import last_week
from apps.search.actions.reindexing import consume
from apps.search.models import SavedSearch
from tests.builders import NOON, a_folder, a_follow, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db


def matched():
    while matching.prepare():
        pass
    matching.match(now=NOON)


def river(user, *, unread_only=False, fold=False):
    found = positions(user, Scope("all"), unread_only=unread_only, oldest_first=True, limit=50, fold=fold)
    return [place.id for place in found]


def ids(*postings):
    return [posting.pk for posting in postings]


@pytest.fixture
def reader():
    """A person, and a feed that they follow."""
    user, source = a_user(), a_source(listed=True)
    a_follow(user, source)
    return user, source


def save(user, *words, place="", part="text", keep=False, **effects):
    return save_plain_rule(user, PlainRule(place, part, words, keep), **effects, now=NOON)


# --- what a rule does -------------------------------------------------------------------------------------------------
def test_muted_words_keep_new_articles_of_followed_feeds_out_of_lists_and_counts(reader):
    user, source = reader
    save(user, "storm", "heavy rain", hide=True)
    muted = [a_posting(source, title="Storms over Lisbon"), a_posting(source, text="There was heavy rain.")]
    others = [a_posting(source, title="Rain, not heavy"), a_posting(title="A storm elsewhere")]
    matched()
    assert river(user) == river(user, unread_only=True) == ids(others[0])
    assert unread_counts(user) == {source.pk: 1}
    assert set(Hit.objects.values_list("posting_id", flat=True)) == set(ids(*muted))


def test_muted_authors_and_titles(reader):
    user, source = reader
    save(user, "Ada Lovelace", part="author", hide=True)
    save(user, "storm", part="title", hide=True)
    a_posting(source, author="Ada Lovelace")
    a_posting(source, title="The storm")
    shown = [a_posting(source, author="Grace Hopper"), a_posting(source, text="A storm.")]
    matched()
    assert river(user) == ids(*shown)


def test_only_what_matches_is_kept_of_a_feed_and_of_a_folder_with_its_subfolders():
    user, one, other, outside = a_user(), a_source(listed=True), a_source(listed=True), a_source(listed=True)
    folder = a_folder(user, "News")
    inner = a_folder(user, "Sports", parent=folder)
    a_follow(user, one, folders=(folder,))
    a_follow(user, other, folders=(inner,))
    a_follow(user, outside)
    save(user, "storm", place=f"folder:{folder.pk}", keep=True)
    save(user, "rain", place=f"source:{outside.pk}", keep=True)
    kept = [a_posting(one, title="Storm"), a_posting(other, title="Storms"), a_posting(outside, title="Rain")]
    hidden = [a_posting(one), a_posting(other, title="Rain"), a_posting(outside, title="Storm")]
    matched()
    assert river(user) == ids(*kept)
    assert set(Mark.objects.filter(hidden=True).values_list("posting_id", flat=True)) == set(ids(*hidden))


def test_a_folder_of_someone_else_matches_nothing(reader):
    user, source = reader
    other = a_user()
    a_follow(other, source, folders=(a_folder(other, "News"),))
    folder = other.folders.get()
    save(user, "storm", place=f"folder:{folder.pk}", hide=True)
    save(other, "storm", place=f"folder:{folder.pk}", star=True)
    storm = a_posting(source, title="Storm")
    matched()
    assert river(user) == ids(storm)
    assert Mark.objects.get().user == other


def test_a_rule_marks_stars_tags_and_raises_no_interest(reader):
    user, source = reader
    saved = save(user, "storm", mark_read=True, star=True, tag="weather")
    posting = a_posting(source, title="Storm")
    matched()
    mark = Mark.objects.get()
    assert (mark.read, mark.starred_at, mark.hidden) == (True, NOON, False)
    assert [tag.name for tag in posting.tags.all()] == ["weather"]
    assert PercolatorQuery.objects.get(saved=saved).importance == 0


def test_hiding_one_copy_of_an_article_hides_all_even_those_that_come_later(reader):
    user, source = reader
    other = a_source(listed=True)
    a_follow(user, other)
    save(user, "storm", place=f"source:{source.pk}", hide=True)
    first = a_posting(source, title="Storm")
    matched()
    type(first).objects.filter(pk=first.pk).update(first_copy=first.pk)
    a_posting(other, title="Storm", first_copy=first.pk)
    matched()
    for fold in (True, False):
        assert river(user, fold=fold) == river(user, fold=fold, unread_only=True) == []


def test_a_hidden_article_that_is_marked_as_unread_is_in_lists_again(reader):
    user, source = reader
    save(user, "storm", hide=True)
    posting = a_posting(source, title="Storm")
    matched()
    mark_read(user, [posting.pk], read=True, now=NOON)
    assert river(user) == []
    mark_read(user, [posting.pk], read=False, now=NOON)
    assert river(user) == river(user, unread_only=True) == ids(posting)


# --- preview and past -------------------------------------------------------------------------------------------------
WORDS = ["storm", "rain", "paris", "the", "heavy rain", "北京"]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.lists(st.tuples(*[st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)] * 2), min_size=1, max_size=6),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True).map(tuple),
    st.sampled_from(["text", "title"]),
    st.booleans(),
)
def test_the_preview_shows_what_the_rule_would_have_done_to_the_articles(reader, drawn, words, part, keep):
    user, source = reader
    SavedSearch.objects.all().delete()
    Hit.objects.all().delete()
    source.postings.all().delete()
    rule = PlainRule(f"source:{source.pk}", part, words, keep)
    save_plain_rule(user, rule, hide=not keep, now=NOON)
    for title, text in drawn:
        a_posting(source, title=title, text=text, language="en")
    matched()
    while consume():
        pass
    assert set(last_week(user, rule, NOON)) == set(Hit.objects.values_list("posting_id", flat=True))


def test_a_rule_is_applied_to_the_past_on_request_and_deleting_it_shows_what_it_alone_has_hidden(reader):
    user, source = reader
    storm, both = a_posting(source, title="Storm"), a_posting(source, title="Storm and rain")
    while consume():
        pass
    rules = [PlainRule("", "text", (word,)) for word in ("storm", "rain")]
    saved = [save_plain_rule(user, rule, hide=True, past_ids=last_week(user, rule, NOON), now=NOON) for rule in rules]
    assert river(user) == []
    assert forget_plain_rule(user, saved[0].pk, now=NOON)
    assert river(user) == ids(storm)
    assert not forget_plain_rule(a_user(), saved[1].pk, now=NOON)
    assert forget_plain_rule(user, saved[1].pk, now=NOON)
    assert river(user) == ids(storm, both)
    assert not Rule.objects.exists()


# --- what is refused --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("rule", "complaint"),
    [
        (PlainRule("", "text", ()), "at least one word"),
        (PlainRule("", "text", ("storm",), keep=True), "Choose a feed or a folder"),
        (PlainRule("", "text", tuple(f"word{number}" for number in range(120))), "too many words"),
        (PlainRule("", "title", tuple(f"word{number}" for number in range(100))), "too many words"),
    ],
)
def test_rules_that_cannot_work_are_refused_with_the_reason(rule, complaint):
    with pytest.raises(NotPossible, match=complaint):
        parsed(rule)


def test_a_rule_has_to_do_something_and_their_number_is_limited(reader):
    user, _ = reader
    with pytest.raises(NotPossible, match="what the rule does"):
        save(user, "storm")
    SavedSearch.objects.bulk_create(
        SavedSearch(user=user, name=f"{n}", query="x", secret=f"{n}", saved_at=NOON, plain={}) for n in range(MAX_RULES)
    )
    with pytest.raises(NotPossible, match="maximum"):
        save(user, "storm", star=True)


# --- pages ------------------------------------------------------------------------------------------------------------
@pytest.fixture
def page(client, reader):
    client.force_login(reader[0])
    return client


FIELDS = {"place": "", "part": "text", "words": "storm\nheavy rain", "effects": ["hide"], "past": "on"}


def test_a_preview_lists_articles_of_the_last_week_and_saves_nothing(page, reader):
    a_posting(reader[1], title="Storm in Lisbon", published_at=now())
    consume()
    shown = page.post(reverse("new_rule"), FIELDS | {"preview": "1"}).text
    assert "1 article of the last week" in shown
    assert "Storm in Lisbon" in shown
    assert "Save rule" in shown
    assert not SavedSearch.objects.exists()
    answer = page.post(reverse("new_rule"), FIELDS | {"save": "1"}, follow=True)
    assert "storm, heavy rain" in answer.text
    assert river(reader[0]) == []


def test_a_rule_is_changed_by_its_form_and_listed_apart_from_saved_searches(page, reader):
    saved = save(reader[0], "storm", hide=True)
    assert 'value="hide"' in page.get(reverse("plain_rule", args=[saved.pk])).text
    page.post(reverse("plain_rule", args=[saved.pk]), FIELDS | {"effects": ["star"], "tag": "wet", "save": "1"})
    rule = Rule.objects.get()
    assert (rule.star, rule.hide, rule.tag, rule.saved.plain["words"]) == (True, False, "wet", ["storm", "heavy rain"])
    assert "heavy rain" not in page.get(reverse("saved_searches")).text
    page.post(reverse("forget_rule", args=[rule.pk]))
    assert not SavedSearch.objects.exists()


def test_combinations_that_contradict_and_foreign_folders_are_refused(page):
    folder = a_folder(a_user())
    assert "cannot be combined" in page.post(reverse("new_rule"), FIELDS | {"effects": ["keep", "star"]}).text
    assert "Select a valid choice" in page.post(reverse("new_rule"), FIELDS | {"place": f"folder:{folder.pk}"}).text


def test_a_rule_of_someone_else_is_not_found(page):
    saved = save(a_user(), "storm", hide=True)
    assert page.get(reverse("plain_rule", args=[saved.pk])).status_code == 404
    page.post(reverse("forget_rule", args=[saved.pk]))
    assert SavedSearch.objects.exists()


def test_words_are_highlighted_in_lists_where_the_rule_matches(page, reader):
    user, source = reader
    save(user, "storm", highlight=True)
    a_posting(source, title="Storms & rain", text="After the storm.", language="en")
    a_posting(source, title="Sun", text="No clouds.", language="en")
    matched()
    shown = page.get(reverse("river")).text
    assert "<mark>Storms</mark> &amp; rain" in shown
    assert "After the <mark>storm</mark>." in shown
    assert shown.count("is-highlighted") == 1
