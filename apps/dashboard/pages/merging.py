"""The preview of merging two sources."""

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.models import Follow, Mark
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.sources import queries as sources
from apps.sources.models import Source
from apps.web.pages import Context

MAX_CHOICES = 20
MAX_FOLLOWED = ("-followers", "title", "pk")


def merge_page(user: User, source_id: int, *, words: str, kept_id: int | None) -> Context | None:
    """One query, one more for choices, and seven for a preview; None if there is no such source."""
    everything = following.publishable_sources(user)
    source = everything.filter(pk=source_id).first()
    if source is None:
        return None
    others = following.with_follower_counts(everything.exclude(pk=source_id))
    choices = list(sources.matching(others, words).order_by(*MAX_FOLLOWED)[:MAX_CHOICES]) if words else []
    kept = others.filter(pk=kept_id).first() if kept_id else None
    return {
        "source": source,  # to be merged into another
        "words": words,
        "choices": tuple(choices),  # with `followers`
        "preview": _preview(source, kept) if kept else None,
    }


def _preview(source: Source, kept: Source) -> Context:
    follows = Follow.objects.filter(source=source)
    both = follows.filter(user__in=Follow.objects.filter(source=kept).values("user")).count()
    joined = len(postings.same_postings(source.pk, kept.pk))
    return {
        "kept": kept,
        "followers": follows.count() - both,  # of the merged source alone
        "following_both": both,
        "moved": Posting.objects.filter(source=source).count() - joined,  # postings
        "joined": joined,  # postings that both have
        "starred": Mark.objects.filter(posting__source=source, starred_at__isnull=False).count(),
    }
