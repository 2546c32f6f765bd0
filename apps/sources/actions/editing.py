"""One source: added, edited, moved, merged and deleted."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Q

from apps.database.statements import execute
from apps.sources import kinds, queries
from apps.sources.actions.curating import PROGRAM, By, changes, decision, note
from apps.sources.algorithms.addresses import MAX_ADDRESS_LENGTH, normalise
from apps.sources.formats.feed import ParsedFeed
from apps.sources.formats.opml import OpmlDocument, Subscription
from apps.sources.models import AuditEntry, FormerAddress, Source

STARTER_FOLDER = ("Starter edition",)  # of the catalogue's file, beside the categories
MAX_LENGTH = {"title": 1_000, "site_url": 4_000, "language": 20, "category": 100}  # characters


@transaction.atomic
def add_sources(rows: Sequence[Source]) -> list[int]:
    """Add missing sources; return the id of each row's source, in their order.

    Existing sources stay unchanged, as do those that a source at an address was merged into. Raises BadAddress for an
    invalid address and ValueError for an unknown kind; then nothing is added.
    """
    _check_kinds(row.kind for row in rows)
    for row in rows:
        row.url = normalise(row.url)
        for name, longest in MAX_LENGTH.items():
            setattr(row, name, getattr(row, name)[:longest])
    addresses = [row.url for row in rows]
    known = queries.by_address(addresses)
    fresh = [row for row in rows if row.url not in known]
    Source.objects.bulk_create(fresh, ignore_conflicts=True, batch_size=1_000)
    ids = queries.by_address(addresses)
    return [ids[url] for url in addresses]


def _check_kinds(names: Iterable[str]) -> None:
    for name in set(names) - set(kinds.all_kinds()):
        raise ValueError(f"There are no sources of the kind “{name}”.")


def add_source(row: Source) -> int:
    return add_sources([row])[0]


def source_of(subscription: Subscription, **others: Any) -> Source:
    """The source that an entry of a list describes, not stored yet."""
    return Source(
        url=subscription.xml_url,
        title=subscription.title,
        site_url=subscription.html_url,
        description=subscription.description,
        language=subscription.language,
        **others,
    )


@transaction.atomic
def load_catalogue(document: OpmlDocument) -> int:
    """Fill an empty catalogue; one that an admin has touched stays as it is. Returns how many sources were added."""
    if queries.listed().exists():
        return 0
    rows = [
        source_of(each, category=each.folders[0][0] if each.folders else "", listed=True)
        for each in document.subscriptions
    ]
    return len(add_sources(rows))


STARTER_EDITION = By("starter edition")


@transaction.atomic
def retrieve_starter_edition(document: OpmlDocument, *, retrieved: bool) -> int:
    """Have the catalogue's starter edition checked without followers, or only with them; returns how many changed.

    What an admin has decided about a feed stays.
    """
    addresses = [each.xml_url for each in document.subscriptions if STARTER_FOLDER in each.folders]
    decisions = AuditEntry.objects.filter(what=AuditEntry.What.ALWAYS)
    chosen = decisions.filter(place=STARTER_EDITION.place).values("source_id")  # by now perhaps at another address
    edition = Source.objects.filter(Q(url__in=addresses) | Q(pk__in=chosen), listed=True)
    left = decisions.exclude(place=STARTER_EDITION.place).values("source_id")
    changed = list(edition.exclude(pk__in=left).filter(always_retrieved=not retrieved).values_list("pk", flat=True))
    for source_id in changed:
        edit_source(source_id, by=STARTER_EDITION, always_retrieved=retrieved)
    return len(changed)


@transaction.atomic
def edit_source(source_id: int, *, by: By = PROGRAM, **values: object) -> frozenset[str]:
    """Change columns of a source; returns the names of those that differ from before.

    Raises BadAddress for an invalid `url` and ValueError for one that belongs to another source or for an unknown kind.
    """
    _check_kinds(str(values[name]) for name in values.keys() & {"kind"})
    if "url" in values:
        values["url"] = url = normalise(str(values["url"]))
        if not _is_free(url, source_id):
            raise ValueError(f"Another feed already has the address {url}.")
        FormerAddress.objects.filter(source_id=source_id, url=url).delete()
    known = Source.objects.select_for_update().get(pk=source_id)
    former = {name: getattr(known, name) for name in values}
    Source.objects.filter(pk=source_id).update(**values)
    note(changes(source_id, str(known), former, values), by)
    return frozenset(name for name, value in values.items() if former[name] != value)


def _is_free(url: str, source_id: int) -> bool:
    """Whether no other source has the address or was merged with a source that had it."""
    taken = Source.objects.filter(url=url).exclude(pk=source_id).exists()
    return not taken and not FormerAddress.objects.filter(url=url).exclude(source_id=source_id).exists()


@transaction.atomic
def set_state(source_ids: Collection[int], state: Source.State, *, by: By = PROGRAM) -> int:
    others = Source.objects.filter(pk__in=source_ids).exclude(state=state).order_by("pk")
    rows = list(others.select_for_update(no_key=True).only("title", "url", "listed", "state"))
    if rows:
        Source.objects.filter(pk__in=[source.pk for source in rows]).update(state=state)
        what = AuditEntry.What.STATE
        note([decision(what, source.state, state.value, source.pk, str(source)) for source in rows], by)
    return len(rows)


_SET_INTERESTS = """
UPDATE sources_source source SET interest = given.value FROM unnest(%s::bigint[], %s::float8[]) given (id, value)
WHERE given.id = coalesce(source.site_id, source.id) AND source.interest <> given.value
"""


def set_interests(values: Mapping[int, float]) -> int:
    """Store by how much saved searches raise the weight of sources; returns the number of changed rows.

    Index pages have the value of their site. Raises ValueError for values outside of 0 to 1,000.
    """
    for value in values.values():
        if not 0 <= value <= 1_000:
            raise ValueError(f"a source's interest lies within 0..1000, not {value}")
    return execute(_SET_INTERESTS, [list(values), list(values.values())])


@transaction.atomic
def move(source_id: int, url: str) -> bool:
    """Store a permanent redirect; False, without a change, if the address is another source's or too long."""
    if len(url) > MAX_ADDRESS_LENGTH or not _is_free(url, source_id):
        return False
    FormerAddress.objects.filter(source_id=source_id, url=url).delete()
    return bool(Source.objects.filter(pk=source_id).exclude(url=url).update(url=url))


def learn_from(source_id: int, feed: ParsedFeed) -> None:
    """Fill the empty columns of a source from the metadata of its feed."""
    source = Source.objects.only("title", "site_url", "description", "language", "image_url").get(pk=source_id)
    stated = {
        "title": feed.title,
        "site_url": feed.link,
        "description": feed.description[:2_000],
        "language": feed.language[:20],
        "image_url": feed.image_url,
    }
    learned = {name: value for name, value in stated.items() if value and not getattr(source, name)}
    if learned:
        Source.objects.filter(pk=source_id).update(**learned)


_LEARNT = ("title", "site_url", "description", "language", "category", "image_url")


@transaction.atomic
def absorb(kept_id: int, merged_id: int, *, by: By = PROGRAM) -> None:
    """Merge a source into another one and delete it; its address then stands for the kept one.

    Empty columns of the kept one are filled from the merged one; it is listed, and always retrieved, if either was.
    All rows that refer to the merged one must have been moved before, or they are deleted with it.
    """
    kept, merged = (Source.objects.select_for_update().get(pk=source_id) for source_id in sorted([kept_id, merged_id]))
    if kept.pk != kept_id:
        kept, merged = merged, kept
    taken = {name: getattr(kept, name) or getattr(merged, name) for name in (*_LEARNT, "listed", "always_retrieved")}
    FormerAddress.objects.filter(source_id=merged_id).update(source_id=kept_id)
    FormerAddress.objects.create(url=merged.url, source_id=kept_id)
    merged_name, merged_url = str(merged), merged.url
    merged.delete()
    Source.objects.filter(pk=kept_id).update(**taken)
    note([decision(AuditEntry.What.MERGED, merged_url, str(kept), merged_id, merged_name)], by)
    former = {name: getattr(kept, name) for name in taken}
    note(changes(kept_id, str(kept), former, taken), by)


def add_index_pages(site_id: int, pages: Collection[tuple[str, str]]) -> dict[str, int]:
    """Add pages of a site, (address, title) each, as sources; returns the ids of those that belong to the site.

    An address of another source stays that source's.
    """
    site = Source.objects.get(pk=site_id)
    Source.objects.bulk_create(
        [
            Source(
                url=url,
                title=title[: MAX_LENGTH["title"]],
                site_url=site.site_url or site.url,
                site=site,
                kind=kinds.INDEX,
                **{name: getattr(site, name) for name in _OF_THE_SITE},
            )
            for url, title in pages
        ],
        ignore_conflicts=True,
    )
    urls = [url for url, _ in pages]
    return dict(Source.objects.filter(site_id=site_id, url__in=urls).values_list("url", "pk"))


_OF_THE_SITE = ("state", "weight", "interest", "listed", "always_retrieved", "clock_rate", "min_gap")


def follow_sites(site_ids: Collection[int] | None = None) -> int:
    """Copy state, weights and gaps of sites, by default of all, to their index pages; how many of these changed."""
    changes = ", ".join(f"{name} = site.{name}" for name in _OF_THE_SITE)
    ours, theirs = (", ".join(f"{table}.{name}" for name in _OF_THE_SITE) for table in ("page", "site"))
    concerned = "" if site_ids is None else "AND site.id = ANY(%(ids)s)"
    return execute(
        f"""UPDATE sources_source page SET {changes} FROM sources_source site
        WHERE page.site_id = site.id AND page.state <> 'gone' AND ({ours}) IS DISTINCT FROM ({theirs}) {concerned}""",
        {"ids": list(site_ids or ())},
    )
