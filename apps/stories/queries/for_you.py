"""A user's personal ranking of postings, with reasons."""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Q

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.queries import Scope
from apps.postings import queries as postings
from apps.postings.algorithms.words import STOP_MARK, analyse, language_of
from apps.stories.algorithms.features import bucket_of
from apps.stories.algorithms.ranking import UNKNOWN
from apps.stories.algorithms.taste import Item, Taste, interleaved, scores
from apps.stories.queries import front as tastes
from apps.stories.queries.front import authorities, hidden_by

PERIOD = timedelta(days=7)
CONSIDERED = 300  # unread postings, the newest
HALF_LIFE = timedelta(hours=12)
FRESHNESS, AUTHORITY, TASTE = 1.0, 0.5, 1.6  # weights
MAX_WORDS = 3
MIN_EVIDENCE = 0.3  # of a word in an explanation


class PersonalRank(NamedTuple):
    """The addends of a posting's score in a personal ranking."""

    posting_id: int
    freshness: float
    authority: float
    taste: float
    is_personal: bool  # whether taste decided its rank

    @property
    def score(self) -> float:
        return self.freshness + self.authority + self.taste


def own_order(user: User, now: datetime) -> list[PersonalRank]:
    """Unread postings of the user's sources in personal order, one for all copies of an article. Six queries.

    Every fifth is the next one by freshness and authority alone.
    """
    unread = following.with_state(following.postings_in(user, Scope("all")), user).filter(
        Q(unread=True), published_at__gt=now - PERIOD, published_at__lte=now
    )
    hidden = hidden_by(user)
    unread = unread.exclude(pk__in=hidden.values("posting_id")).exclude(
        first_copy__in=hidden.filter(posting__first_copy__isnull=False).values("posting__first_copy")
    )
    unread = following.folded(unread) if following.folds(user) else unread
    found = list(postings.newest(unread).values_list("pk", "source_id", "published_at", named=True)[:CONSIDERED])
    taste, worth = tastes.taste_of(user), authorities()
    items = tastes.items_of([row.pk for row in found]) if taste else {}
    with_items = [row.pk for row in found if row.pk in items]
    liking = dict(zip(with_items, scores(taste, [items[id] for id in with_items]), strict=True)) if taste else {}
    own = {
        row.pk: PersonalRank(
            row.pk,
            FRESHNESS * 2 ** (-((now - row.published_at) / HALF_LIFE)),
            AUTHORITY * worth.get(row.source_id, UNKNOWN),
            TASTE * float(liking.get(row.pk, 0.0)),
            taste is not None,
        )
        for row in found
    }
    if taste is None:
        return sorted(own.values(), key=lambda each: (-each.score, -each.posting_id))
    personal = sorted(own, key=lambda id: (-own[id].score, -id))
    usual = sorted(own, key=lambda id: (-own[id].score + own[id].taste, -id))
    return [
        PersonalRank(id, own[id].freshness, own[id].authority, 0.0 if is_usual else own[id].taste, not is_usual)
        for id, is_usual in interleaved(personal, usual)
    ]


def explaining_words(taste: Taste, text: str, declared: str, *, liked: bool = True) -> list[str]:
    """The words of a posting with the strongest evidence for it, or against it, in its spelling."""
    language = language_of(text, declared)
    words = analyse(text, language)
    spelled: dict[int, str] = {}
    for term, (start, end) in zip(words.sequence, words.places, strict=True):
        if term[0] != STOP_MARK:
            spelled.setdefault(bucket_of(term, language), text[start:end])
    evidence = _evidence(taste, spelled)
    sign = 1 if liked else -1
    best = sorted(
        (term for term in spelled if sign * evidence[term] > MIN_EVIDENCE), key=lambda term: -sign * evidence[term]
    )
    return [spelled[term] for term in best[:MAX_WORDS]]


def _evidence(taste: Taste, spelled: dict[int, str]) -> dict[int, float]:
    item = Item.of(spelled)
    known = taste.liked.keys() | taste.disliked.keys()
    values = zip(item.terms.tolist(), taste.evidence(item).tolist(), strict=True)
    return {term: value if term in known else 0.0 for term, value in values}
