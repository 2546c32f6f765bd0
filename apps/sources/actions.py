"""The only writers of sources. Each is one transaction and may be called twice."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields

from django.db import connection, transaction

from apps.sources import queries
from apps.sources.algorithms.addresses import LONGEST_ADDRESS, normalise
from apps.sources.formats.feed import ParsedFeed
from apps.sources.formats.opml import OpmlDocument
from apps.sources.models import Source

LONGEST = {"title": 1_000, "site_url": 4_000, "language": 20, "category": 100}  # characters


@dataclass(frozen=True, slots=True)
class NewSource:
    url: str
    kind: str = Source.Kind.FEED
    title: str = ""
    site_url: str = ""
    description: str = ""
    language: str = ""
    category: str = ""
    listed: bool = False
    always_retrieved: bool = False
    pace: float = 1.0
    min_gap: int | None = None  # s


@transaction.atomic
def add_sources(rows: Sequence[NewSource]) -> list[int]:
    """Add what is not there yet; return the id of each row's source, in their order.

    A source that exists already is left as it is.

    Raises
    ------
    BadAddress
        If one of the addresses cannot be meant; nothing is added then.
    """
    addresses = [normalise(row.url) for row in rows]
    Source.objects.bulk_create(
        [_as_model(row, url) for row, url in zip(rows, addresses, strict=True)], ignore_conflicts=True, batch_size=1_000
    )
    ids = queries.by_address(addresses)
    return [ids[url] for url in addresses]


def add_source(row: NewSource) -> int:
    return add_sources([row])[0]


def _as_model(row: NewSource, url: str) -> Source:
    values = {field.name: getattr(row, field.name) for field in fields(row)} | {"url": url}
    for name, longest in LONGEST.items():
        values[name] = values[name][:longest]
    return Source(**values)


@transaction.atomic
def load_catalogue(document: OpmlDocument) -> int:
    """Fill an empty catalogue; one that an admin has touched stays as it is. Returns how many sources were added."""
    if queries.listed().exists():
        return 0
    rows = [
        NewSource(
            url=subscription.xml_url,
            title=subscription.title,
            site_url=subscription.html_url,
            description=subscription.description,
            language=subscription.language,
            category=subscription.folders[0][0] if subscription.folders else "",
            listed=True,
        )
        for subscription in document.subscriptions
    ]
    return len(add_sources(rows))


@transaction.atomic
def edit_source(source_id: int, **values: object) -> bool:
    """Change what an admin may change of a source; say whether its address is another one now.

    Raises
    ------
    BadAddress
        If a new `url` cannot be meant.
    ValueError
        If another source has the new `url` already.
    """
    if "url" in values:
        values["url"] = normalise(str(values["url"]))
        if Source.objects.filter(url=values["url"]).exclude(pk=source_id).exists():
            raise ValueError(f"Another source has the address {values['url']} already.")
    moved = "url" in values and not Source.objects.filter(pk=source_id, url=values["url"]).exists()
    Source.objects.filter(pk=source_id).update(**values)
    return moved


def set_state(source_ids: Collection[int], state: Source.State) -> int:
    return Source.objects.filter(pk__in=source_ids).exclude(state=state).update(state=state)


def set_interest(source_ids: Collection[int], value: float) -> int:
    """Write down what people's standing questions add to the worth of sources; 1 where nobody asks.

    Raises
    ------
    ValueError
        If the value is not within 0..1000.
    """
    if not 0 <= value <= 1_000:
        raise ValueError(f"a source's interest lies within 0..1000, not {value}")
    return Source.objects.filter(pk__in=source_ids).exclude(interest=value).update(interest=value)


def move(source_id: int, url: str) -> bool:
    """Remember a permanent redirect. False when another source has that address, or it is too long: all stays."""
    if len(url) > LONGEST_ADDRESS or Source.objects.filter(url=url).exists():
        return False
    return bool(Source.objects.filter(pk=source_id).update(url=url))


def learn_from(source_id: int, feed: ParsedFeed) -> None:
    """Fill in what nobody has said of a source by what its feed says of itself."""
    source = Source.objects.only("title", "site_url", "description", "language", "image_url").get(pk=source_id)
    said = {
        "title": feed.title,
        "site_url": feed.link,
        "description": feed.description[:2_000],
        "language": feed.language[:20],
        "image_url": feed.image_url,
    }
    learned = {name: value for name, value in said.items() if value and not getattr(source, name)}
    if learned:
        Source.objects.filter(pk=source_id).update(**learned)


def delete_source(source_id: int) -> None:
    """Delete a source with its postings, follows and log."""
    Source.objects.filter(pk=source_id).delete()


def add_index_pages(site_id: int, pages: Collection[tuple[str, str]]) -> dict[str, int]:
    """Make pages of a site, (address, title) each, sources of their own; the id of each that is one of its now.

    An address that is another source's already stays that.
    """
    site = Source.objects.get(pk=site_id)
    Source.objects.bulk_create(
        [
            Source(
                url=url,
                title=title[: LONGEST["title"]],
                site_url=site.site_url or site.url,
                site=site,
                kind=Source.Kind.INDEX,
                **{name: getattr(site, name) for name in _OF_THE_SITE},
            )
            for url, title in pages
        ],
        ignore_conflicts=True,
    )
    urls = [url for url, _ in pages]
    return dict(Source.objects.filter(site_id=site_id, url__in=urls).values_list("url", "pk"))


_OF_THE_SITE = ("state", "weight", "interest", "listed", "always_retrieved", "pace", "min_gap")


def follow_sites() -> int:
    """Have index pages be what their sites are: as much worth, as active, as often asked. Returns how many changed."""
    changes = ", ".join(f"{name} = site.{name}" for name in _OF_THE_SITE)
    ours, theirs = (", ".join(f"{table}.{name}" for name in _OF_THE_SITE) for table in ("page", "site"))
    with connection.cursor() as cursor:
        cursor.execute(
            f"""UPDATE sources_source page SET {changes} FROM sources_source site
            WHERE page.site_id = site.id AND page.state <> 'gone' AND ({ours}) IS DISTINCT FROM ({theirs})"""
        )
        return cursor.rowcount
