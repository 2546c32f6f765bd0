"""What was probably meant, by the words of the newest postings."""

import pytest

from apps.search.actions import reindexing
from apps.search.actions.dictionary import learn_spelling
from apps.search.algorithms.language import parse, to_text
from apps.search.models import SpelledWord
from apps.search.queries import spelling, suggestion
from tests.builders import a_posting, a_source

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_remembered():
    spelling._known = None
    yield
    spelling._known = None


def test_words_of_the_newest_postings_are_suggested_and_the_rest_of_the_query_stays():
    for number in range(3):
        a_posting(a_source(listed=True), title=f"Government {number}", text="The parliament meets")
    assert learn_spelling() == 4
    meant = suggestion(parse('goverment "parlament now" (parliamant OR x) -meetz lang:en'))
    assert to_text(meant) == 'government "parlament now" (parliament OR x) -meetz lang:en'


def test_a_query_without_slips_is_meant_as_it_is():
    for _ in range(3):
        a_posting(a_source(listed=True), title="Government")
    learn_spelling()
    query = parse("government OR (vote paris)")
    assert suggestion(query) == query


def test_words_of_former_times_and_rare_ones_are_forgotten():
    SpelledWord.objects.create(word="telegraph", documents=9)
    a_posting(a_source(listed=True), title="Bridge")
    assert learn_spelling() == 0
    assert not SpelledWord.objects.exists()


def test_words_of_private_feeds_are_not_suggested():
    for number in range(9):
        a_posting(a_source(listed=False), title=f"Government {number}")
    assert learn_spelling() == 0


def test_a_new_archive_suggests_words_as_soon_as_it_has_some_postings(monkeypatch, django_capture_on_commit_callbacks):
    monkeypatch.setattr(reindexing, "LEARNED_AT", (3,))
    for number in range(4):
        assert to_text(suggestion(parse("goverment"))) == ("government" if number == 3 else "goverment")
        a_posting(a_source(listed=True), title=f"Government {number}")
        with django_capture_on_commit_callbacks(execute=True):
            reindexing.consume()
