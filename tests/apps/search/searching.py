"""Searches of tests, and what they find."""

from datetime import timedelta

from apps.postings.models import Posting
from apps.search import queries as searching
from apps.search.algorithms.language import parse
from tests.builders import NOON, a_posting, a_user


def search(text, user=None, **values):
    defaults = {
        "order": "relevance", "cursor": "", "expansion": False, "removed_terms": (), "liked_ids": (),
        "disliked_ids": (), "now": NOON,
    }  # fmt: skip
    return searching.search(user or a_user(), parse(text), **defaults | values)


def published(title, source=None, *, days=1.0, **values):
    return a_posting(
        source, **{"title": title, "text": "", "language": "en", "published_at": NOON - timedelta(days=days)} | values
    )


def titles(result):
    names = dict(Posting.objects.filter(pk__in=result.postings).values_list("pk", "title"))
    return [names[posting_id] for posting_id in result.postings]


def all_pages(text, user, **values):
    found, cursor = [], ""
    while True:
        result = search(text, user, cursor=cursor, **values)
        found += result.postings
        if not result.next:
            return found
        cursor = result.next
