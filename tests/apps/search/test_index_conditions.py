"""Queries as conditions on the index, against the same queries tried on one posting after the other."""

import random
from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser

from apps.postings.algorithms.words import analyse
from apps.postings.models import Posting
from apps.search.actions.reindexing import consume
from apps.search.actions.segment_building import maintain
from apps.search.algorithms.index import levels
from apps.search.algorithms.language import And, Filter, Not, Or, Phrase, Tree, Word
from apps.search.queries import snapshot
from apps.search.queries.resolving import condition_of
from lab.benchmarks.alerts.matching import PostingValues, matches
from tests.apps.search.index_twin import reading_of
from tests.builders import NOON, a_follow, a_mark, a_posting, a_source, a_user
from tests.trials import quick_every

pytestmark = pytest.mark.django_db

WORDS = ("the", "of", "budget", "vote", "storm", "flood", "中国", "大学", "election", "e-mail", "to", "be")
FILTERS = {
    "source": ("wire", "daily", "1", "nowhere"),
    "category": ("world", "wor", "world news", "sport"),
    "lang": ("en", "de"),
    "author": ("ann", "ann le", "sen", "!"),
    "intitle": ("budget", "the vote", "storm flood"),
    "before": ("2024-04-29", "today"),
    "after": ("2024-04-30", "1d"),
    "is": ("unread", "starred", "followed"),
}


def some_text(chance: random.Random, most: int) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(0, most)))


def some_tree(chance: random.Random, depth: int = 3) -> Tree:
    kind = chance.choice(["word", "phrase", "filter", "not", "and", "or"] if depth else ["word", "phrase", "filter"])
    parts = tuple(some_tree(chance, depth - 1) for _ in range(2)) if kind in ("and", "or", "not") else ()
    match kind:
        case "word":
            return Word(chance.choice(WORDS))
        case "phrase":
            return Phrase(" ".join(chance.choices(WORDS, k=chance.randint(1, 3))))
        case "filter":
            field = chance.choice(list(FILTERS))
            values = chance.sample(FILTERS[field], 1 if field in ("before", "after", "is") else chance.randint(1, 2))
            return Filter(field, tuple(values))
        case "not":
            return Not(parts[0])
        case "and":
            return And(parts)
    return Or(parts)


@pytest.fixture
def small_levels(monkeypatch):
    for name, size in (("SMALLEST", 2), ("MIDDLE", 8), ("LARGEST", 32)):
        monkeypatch.setattr(levels, name, size)


@pytest.mark.parametrize("seed", quick_every(2, range(4)))
def test_any_query_finds_exactly_the_postings_it_matches(seed, small_levels):
    chance, user = random.Random(seed), a_user()
    sources = [
        a_source(title="The Wire", language="en", category="World", listed=True),
        a_source(title="Daily Post", language="en", category="Sport", listed=True),
    ]
    a_follow(user, sources[0], unread_from=NOON - timedelta(days=1), title="My wire")
    for number in range(60):
        a_posting(
            chance.choice(sources),
            title=some_text(chance, 3),
            text=some_text(chance, 8),
            text_hash=bytes([number]) * 16,
            language="en",
            author=chance.choice(["", "Ann Lee", "Bo Sen"]),
            categories=chance.sample(["World News", "Big World", "News"], chance.randint(0, 2)),
            published_at=NOON - timedelta(minutes=chance.randint(0, 4_000)),
        )
    for posting in chance.sample(list(Posting.objects.all()), 20):
        a_mark(user, posting, read=chance.choice([True, False, None]), starred_at=chance.choice([None, NOON]))
    consume(limit=45)
    maintain(at_least=3)
    consume()
    everything = [(posting.pk, values_of(posting, user)) for posting in Posting.objects.select_related("source")]
    for _ in range(80):
        tree = some_tree(chance)
        expected = {id for id, values in everything if matches(tree, values, analyse=in_english, now=NOON)}
        with snapshot() as index:
            condition = condition_of(tree, user, languages=["en"], now=NOON)
            found = {each.posting_id for each in index.restricted(condition).newest(1_000)}
        assert found == expected, tree


def in_english(text: str) -> list[str]:
    return analyse(text, "en").sequence


def values_of(posting: Posting, user) -> PostingValues:
    mark, follow = posting.marks.filter(user=user).first(), posting.source.follows.filter(user=user).first()
    unread = mark.read is False if mark and mark.read is not None else None
    if unread is None:
        unread = bool(follow and posting.published_at >= follow.unread_from)
    return PostingValues(
        posting.title,
        posting.text,
        posting.source_id,
        (posting.source.title, follow.title if follow else "", "source.example"),
        (posting.source.category, *posting.categories),
        reading_of(posting).language,  # a few words in Chinese are Chinese, whatever the feed says
        posting.author,
        posting.published_at,
        unread=unread,
        starred=bool(mark and mark.starred_at),
        followed=bool(follow),
    )


def test_invisible_postings_are_not_found():
    private = a_posting(a_source(listed=False, language="en"), title="flood", text_hash=b"1" * 16)
    public = a_posting(a_source(listed=True, language="en"), title="flood", text_hash=b"2" * 16)
    follower = a_follow(source=private.source).user
    consume()

    def found_by(user) -> set[int]:
        with snapshot() as index:
            condition = condition_of(Word("flood"), user, languages=["en"], now=NOON)
            return {each.posting_id for each in index.restricted(condition).newest(10)}

    assert found_by(AnonymousUser()) == {public.pk}
    assert found_by(follower) == {private.pk, public.pk}
    assert found_by(a_user(is_staff=True)) == {public.pk}


def test_a_word_is_found_in_each_of_several_languages():
    english = a_posting(a_source(listed=True), title="The elections", language="en", text_hash=b"1" * 16)
    french = a_posting(a_source(listed=True), title="Les élections", language="fr", text_hash=b"2" * 16)
    consume()
    with snapshot() as index:
        both = condition_of(Word("élections"), AnonymousUser(), languages=["en", "fr"], now=NOON)
        assert {each.posting_id for each in index.restricted(both).newest(10)} == {english.pk, french.pk}
