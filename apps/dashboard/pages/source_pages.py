"""The known pages of a crawled site, or of a feed whose excerpts are completed, and the keen tags of a source."""

from django.core.paginator import Paginator

from apps.accounts.models import User
from apps.following import queries as following
from apps.postings import queries as postings
from apps.retrieval import queries as retrieval
from apps.retrieval.models import Page
from apps.sources import queries as sources
from apps.web.pages import Context

LENGTH = 50


def source_pages_page(user: User, source_id: int, *, kind: str, words: str, number: str) -> Context | None:
    """Six queries."""
    source = following.known_sources(user).filter(pk=source_id).first()
    if source is None:
        return None
    kind = kind if kind in Page.Kind.values else ""
    shown = Paginator(retrieval.pages_of(source_id, kind=kind, words=words), LENGTH).get_page(number)
    shown.object_list = list(shown.object_list)
    by_kind = retrieval.page_counts(source_id)
    return {
        "source": source,
        "crawl": retrieval.crawl_of(source_id),  # None before the first check
        "counts": {str(Page.Kind(name).label): count for name, (count, _) in by_kind.items()},
        "waiting": sum(waiting for _, waiting in by_kind.values()),
        "index_pages": tuple(retrieval.index_pages_of(source_id)),  # checked like feeds, with their schedules
        "pages": shown,
        "kinds": tuple((value, str(label)) for value, label in Page.Kind.choices),
        "kind": kind,  # shown, or "" for all
        "words": words,
    }


def keen_tags_page(source_id: int) -> Context | None:
    """Three queries."""
    source = sources.everything().filter(pk=source_id).first()
    if source is None:
        return None
    crawl = retrieval.crawl_of(source_id)
    tags = None if crawl is None or crawl.keen_tags is None else tuple(sorted(crawl.keen_tags))
    return {
        "source": source,
        "tags": tags,  # None: the source has none of its own
        "examples": postings.with_documents(source_id).count(),
    }
