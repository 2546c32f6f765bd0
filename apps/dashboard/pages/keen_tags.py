"""The keen tags of a source, and the number of pages to train with."""

from apps.postings import queries as postings
from apps.retrieval import queries as retrieval
from apps.sources import queries as sources
from apps.web.pages import Context


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
