"""Saved searches with words of real items, and postings of a given length."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from django.db import connection

from apps.accounts.models import User
from apps.alerts import actions
from apps.postings.algorithms.words import STOP_MARK, analyse
from lab.worlds.items import Item

SEARCHES_OF_EACH = 100  # person
BY_FREQUENCY = 0.6  # of the words; the others are any that occur

HEADLINE = 10  # words
Words = Callable[[], str]
_COPY = 'COPY search_savedsearch (user_id, name, query, "order", secret, saved_at) FROM STDIN BINARY'


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words of items as they are written, without stop words, the commonest first."""

    words: list[str]
    counts: list[int]

    @classmethod
    def of(cls, items: Sequence[Item]) -> "Vocabulary":
        counts: Counter[str] = Counter()
        for item in items:
            text = f"{item.title} {item.text}"
            found = analyse(text, "en")
            counts.update(
                text[start:end].lower()
                for word, (start, end) in zip(found.sequence, found.places, strict=True)
                if not word.startswith(STOP_MARK) and text[start:end].isalnum()
            )
        return cls(*map(list, zip(*counts.most_common(), strict=True)))


def draw_queries(items: Sequence[Item], count: int, *, seed: int) -> list[str]:
    """Queries of the five forms that people use most.

    35 of 100 are one word, 30 two words, 13 a word and one of three others, 12 two words without a third, 10 a phrase.
    """
    chance = random.Random(seed)
    vocabulary = Vocabulary.of(items)
    common = iter(chance.choices(vocabulary.words, vocabulary.counts, k=5 * count))

    def word() -> str:
        return next(common) if chance.random() < BY_FREQUENCY else chance.choice(vocabulary.words)

    forms: list[Callable[[Words], str]] = [
        lambda word: word(),
        lambda word: f"{word()} {word()}",
        lambda word: f"{word()} ({word()} OR {word()} OR {word()})",
        lambda word: f"{word()} {word()} -{word()}",
        lambda word: f'"{word()} {word()}"',
    ]
    return [form(word) for form in chance.choices(forms, [35, 30, 13, 12, 10], k=count)]


def add_searches(queries: Sequence[str]) -> None:
    """Save the queries for as many users as needed."""
    now = datetime.now(UTC)
    people = User.objects.bulk_create(
        [User(username=f"reader{number}") for number in range(1 + len(queries) // SEARCHES_OF_EACH)]
    )
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        copy.set_types(["int8", "varchar", "varchar", "varchar", "varchar", "timestamptz"])
        for number, query in enumerate(queries):
            person = people[number // SEARCHES_OF_EACH]
            copy.write_row((person.pk, f"search {number}", query, "newest", f"secret {number}", now))


def prepare() -> bool:
    """Index some saved searches; return whether there were any."""
    return bool(actions.matching.prepare(10 * actions.matching.PREPARE_BATCH))


def of_words(items: Sequence[Item], length: int, count: int) -> list[Item]:
    """`count` items of `length` words each, made of headlines."""
    made: list[Item] = []
    words: list[str] = []
    for item in items:
        words += item.title.split()
        if len(words) >= length:
            made.append(replace(item, title=" ".join(words[:HEADLINE]), text=" ".join(words[HEADLINE:length])))
            words = []
            if len(made) == count:
                break
    return made
