"""Reads of sources."""

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Coalesce

from apps.database.sanitizing import sanitize
from apps.database.statements import query
from apps.sources.models import AuditEntry, FormerAddress, Icon, Retention, Source

MAX_SOURCES = 100_000  # counting more of them by state takes too long for a health check
ESTIMATED_STATES = f"""
SELECT state, round(share * reltuples)::bigint
FROM pg_class JOIN pg_stats ON schemaname = 'public' AND tablename = relname AND attname = 'state',
    unnest(most_common_vals::text::text[], most_common_freqs) AS common (state, share)
WHERE pg_class.oid = 'sources_source'::regclass AND reltuples > {MAX_SOURCES}
"""


# For how many days the articles of a `source` are kept; null: forever.
KEPT_DAYS = """nullif(coalesce(source.expiry_days,
    (SELECT days FROM sources_retention WHERE sources_retention.category = source.category),
    (SELECT days FROM sources_retention WHERE sources_retention.category = ''), 0), 0)"""


def retentions() -> dict[str, int]:
    """The days by category, 0 forever; the empty category stands for all others."""
    return dict(Retention.objects.order_by("category").values_list("category", "days"))


def everything() -> QuerySet[Source]:
    """The sources that people see: index pages are parts of their sites."""
    return Source.objects.filter(site=None)


def listed() -> QuerySet[Source]:
    """The catalogue, which is public."""
    return everything().filter(listed=True).exclude(state=Source.State.GONE)


def by_address(addresses: Collection[str]) -> dict[str, int]:
    """The source at each address that has one; an index page's is its site, a merged source's the one that was kept."""
    found = Source.objects.filter(url__in=addresses).annotate(owner=Coalesce("site_id", "pk"))
    former = FormerAddress.objects.filter(url__in=addresses)
    return dict(former.values_list("url", "source_id")) | dict(found.values_list("url", "owner"))


def matching(sources: QuerySet[Source], words: str) -> QuerySet[Source]:
    """Sources with all of the words in title, address or description.

    Only the host of a private address is searched: searching the rest would reveal it letter by letter.
    """
    for word in words.split()[:10]:
        in_address = Q(listed=True, url__icontains=word) | Q(url__iregex=_in_host(word))
        sources = sources.filter(Q(title__icontains=word) | in_address | Q(description__icontains=word))
    return sources


def _in_host(word: str) -> str:
    """A regular expression for addresses whose host contains a word; they have no user names."""
    return rf"^https?://[^/?#]*{re.escape(word)}" if not set(word) & set("/?#") else "^$"


def categories(sources: QuerySet[Source]) -> list[str]:
    return list(sources.exclude(category="").order_by("category").values_list("category", flat=True).distinct())


def languages(sources: QuerySet[Source]) -> list[str]:
    return list(sources.exclude(language="").order_by("language").values_list("language", flat=True).distinct())


def icons(digests: Iterable[str]) -> dict[str, bytes]:
    """The PNG of each icon that exists."""
    found = Icon.objects.filter(pk__in=[sanitize(digest) for digest in digests])
    return {digest: bytes(png) for digest, png in found.values_list("pk", "png")}


def counts_by_state() -> dict[str, int]:
    """The number of sources in each state, for large tables as estimated in the last ANALYZE of Postgres."""
    counted = dict.fromkeys(Source.State.values, 0)
    if estimated := {state: count for state, count in query(ESTIMATED_STATES) if state in counted}:
        return counted | estimated
    rows = Source.objects.order_by("state").values_list("state")
    return counted | dict(rows.annotate(count=Count("pk")))


# --- audit log --------------------------------------------------------------------------------------------------------
class AuditFilter(NamedTuple):
    words: str = ""  # of the source's name at that time
    what: str = ""
    who: str = ""  # username
    source_id: int | None = None


def audit(chosen: AuditFilter) -> QuerySet[AuditEntry]:
    """Entries of the audit log with their actors, the latest first."""
    found = AuditEntry.objects.select_related("actor").order_by("-pk")
    for word in chosen.words.split()[:10]:
        found = found.filter(name__icontains=word)
    lookups = {
        "what": chosen.what or None,
        "actor__username__iexact": chosen.who or None,
        "source_id": chosen.source_id,
    }
    return found.filter(**{lookup: value for lookup, value in lookups.items() if value is not None})
