"""Saved searches for a portal with replayed sources, each of a different user."""

import random
from collections.abc import Sequence
from datetime import datetime

from apps.accounts.models import User
from apps.alerts import actions
from apps.alerts.actions.rules import set_importance
from apps.alerts.queries import interest
from apps.postings.algorithms.words import analyse
from apps.search.actions.reindexing import consume
from apps.search.actions.saved import save_search
from apps.search.models import SavedSearch
from apps.search.queries import snapshot
from apps.sources.models import Source

WORDS_DRAWN_FROM = 40  # the heaviest of a source


def add_searches(source_ids: Sequence[int], count: int, *, seed: int, now: datetime) -> list[str]:
    """Save `count` searches for two characteristic words of a source each, of importance 1 to 10; return the queries.

    The postings published so far are indexed first, and the interest of their sources is raised at once.

    Raises ValueError if too few of the sources have words to search for.
    """
    while consume(limit=1_000):
        pass
    actions.weighing.profile_sources(source_ids, now=now)
    words = _words_of(source_ids)
    if len(words) < count:
        raise ValueError(f"Only {len(words)} of the sources have words to search for, and {count} are wanted.")
    drawn = random.Random(seed)
    queries = [" ".join(drawn.sample(words[id], 2)) for id in drawn.sample(sorted(words), count)]
    for number, query in enumerate(queries):
        user, _ = User.objects.get_or_create(username=f"searcher{number}")
        saved = save_search(user, query, query, order=SavedSearch.Order.NEWEST, now=now)
        set_importance(user, saved.pk, float(drawn.randint(1, 10)))
    while actions.matching.prepare():
        pass
    while actions.weighing.weigh():
        pass
    actions.weighing.raise_interests()
    return queries


def _words_of(source_ids: Sequence[int]) -> dict[int, list[str]]:
    """By source, those of its heaviest terms that a search finds; sources with two of them at least."""
    languages = dict(Source.objects.filter(pk__in=source_ids).values_list("pk", "language"))
    profiles = interest.profiles()
    found = {}
    with snapshot() as index:
        for id, language in languages.items():
            terms = index.names(profiles[id][0][:WORDS_DRAWN_FROM]) if id in profiles else []
            words = [term for term in terms if term.isalpha() and list(analyse(term, language).terms) == [term]]
            if len(words) >= 2:
                found[id] = words
    return found
