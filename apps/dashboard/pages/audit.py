"""The change log of sources and of the portal."""

from apps.sources import queries as sources
from apps.sources.algorithms.addresses import hosts_only
from apps.sources.models import AuditEntry, Source
from apps.sources.queries import AuditFilter
from apps.web.pages import Context

LENGTH = 100
OF_A_SOURCE = 10  # the latest


def audit_page(chosen: AuditFilter, before: int | None, *, hidden: bool) -> Context:
    """Two queries. With `hidden`, addresses are reduced to their hosts."""
    found = sources.audit(chosen)
    if before is not None:
        found = found.filter(pk__lt=before)
    entries = list(found[: LENGTH + 1])
    shown = entries[:LENGTH]
    return {
        "rows": _rows(_without_addresses(shown) if hidden else shown),
        "filter": chosen,
        "kinds": AuditEntry.What.choices,
        "next": shown[-1].pk if len(entries) > LENGTH else 0,  # the next page has the ids below; 0 at the end
    }


def audit_of_source(source_id: int, *, hidden: bool) -> list[Context]:
    """The latest changes of an existing source. One query."""
    entries = list(sources.audit(AuditFilter(source_id=source_id))[:OF_A_SOURCE])
    if hidden:
        _without_addresses(entries)
    return [{"entry": entry, "is_there": True} for entry in entries]


def _rows(entries: list[AuditEntry]) -> list[Context]:
    ids = {entry.source_id for entry in entries if entry.source_id is not None}
    present = set(Source.objects.filter(pk__in=ids).values_list("pk", flat=True))
    return [{"entry": entry, "is_there": entry.source_id in present} for entry in entries]


def _without_addresses(entries: list[AuditEntry]) -> list[AuditEntry]:
    for entry in entries:
        for name in ("name", "before", "after", "why"):
            setattr(entry, name, hosts_only(getattr(entry, name)))
    return entries
