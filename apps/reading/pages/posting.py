"""The pages of a posting: its own, its menu in a list, and the one that is shared; history and notes."""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import timedelta
from html import escape
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.core.paginator import Paginator
from django.utils.timezone import now

from apps.accounts.models import User
from apps.alerts.models import Destination
from apps.alerts.queries.messages import Finding
from apps.alerts.send_to import all_services, link_of
from apps.following import queries as following
from apps.following.algorithms.passages import Text
from apps.following.models import Follow
from apps.following.queries.states import PlaybackPosition, PostingState, posting_state
from apps.postings import queries as postings
from apps.postings.algorithms.players import player_of
from apps.postings.algorithms.teasers import is_teaser
from apps.postings.models import Edition, Posting
from apps.postings.queries import Cursor
from apps.reading.algorithms.differences import word_changes
from apps.reading.pages.river import view_of
from apps.sources.algorithms.addresses import http_address
from apps.stories.queries.front import related_reports
from apps.summaries.algorithms.reading_time import reading_minutes
from apps.web.algorithms.addresses import picture_address
from apps.web.algorithms.articles import clock, player_link, with_first_picture_at_once
from apps.web.pages import Context
from apps.web.pages.rows import article_for, icon_address, picture_for, recording_for, row, rows_by_id
from apps.web.pages.summaries import summary_part

_RELATED = 3  # reports of the same story
_SAMPLE = 20_000  # characters from which the reading time is estimated

Player = Literal["audio", "video", ""]

TEASER = 400  # characters of a text too short for a summary

LENGTH = 40  # postings per page
UNFINISHED = 5  # recordings to resume


def posting_page(
    user: User | AnonymousUser,
    posting_id: int,
    percent: int | None = None,
    *,
    even_private: bool = False,
) -> Context | None:
    """The page of a posting that the user may read, or None, with a summary of about `percent` of the text.

    With `even_private` access is not checked: the caller has checked a permission, and logs it.

    Seven queries, or a few more if the summary is not stored yet.
    """
    own = posting_state(user, posting_id)
    if own is None or not (own.readable or even_private):
        return None
    posting = _posting(posting_id, own)
    if posting is None:  # deleted a moment ago
        return None
    beside = postings.neighbours(posting)
    files = attachments(posting.enclosures, own.place, lambda address: recording_for(user, address, own.images))
    html = _html(posting, own.full_text, is_attached=any(file.player for file in files))
    html = with_first_picture_at_once(article_for(user, html, own.images))
    highlighted: Collection[int] = ()
    if own.highlights:
        html, highlighted = Text(html).marked({each.id: each.passage for each in own.highlights})
    return {
        "posting": posting,  # a Posting with `unread`, `starred`, its source, and only addresses on the web
        "html": html,  # with pictures according to the user's setting, and highlighted passages
        "highlighted": highlighted,  # those of the user's highlights that are in the text
        "image_url": picture_for(user, picture_address(posting.image_url), own.images),  # empty if none is shown
        "minutes": reading_minutes(posting.text[:_SAMPLE], len(posting.text)),  # reading time
        "attachments": files,
        "is_teaser": bool(posting.url) and not posting.extractor and is_teaser(posting.text),
        "was_unread": False,  # up to now
        "list": "",  # from which it was opened; filled in by the view
        "kept": "",
        "own": own,  # the user's
        "source_title": own.source_title or str(posting.source),
        "icon": icon_address(posting.source.icon_id),
        "delay": _delay(posting),  # from publication to retrieval, if meaningful
        "editions": _editions(posting),
        "destinations": _destinations(user, posting.heading, posting.url, own.source_title or str(posting.source)),
        "newer_id": beside.newer_id,  # of the same source
        "older_id": beside.older_id,
        "summary": summary_part(posting, percent),
        "related": related_reports(user, posting_id, _RELATED),  # of a story with other sources
    }


def _html(posting: Posting, full_text: str, *, is_attached: bool) -> str:
    """The extracted text, or the feed's own if the user prefers that, below the videos that the posting is about."""
    html = posting.feed_html if full_text == Follow.FullText.FEED and posting.feed_html else posting.html
    lengths: dict[str, int] = {}
    files = [(str(file.get("url") or ""), file.get("duration")) for file in posting.enclosures]
    for address, seconds in (("" if is_attached else posting.url, 0), *files):
        player = player_of(address)
        if player is not None and f'<figure><a href="{escape(player.page)}"' not in html:
            lengths[player.page] = seconds or lengths.get(player.page, 0)
    image = picture_address(posting.image_url)
    return "".join(player_link(page, posting.title, image, length) for page, length in lengths.items()) + html


def _posting(posting_id: int, own: PostingState) -> Any:
    """The posting; its addresses are checked again, although stored ones are already sanitized."""
    posting: Any = postings.with_source(posting_id)
    if posting is not None:
        posting.url, posting.comments_url = http_address(posting.url), http_address(posting.comments_url)
        posting.unread, posting.starred = own.unread, own.starred
    return posting


def _delay(posting: Posting) -> timedelta | None:
    """None without a credible date, or if published before the source was added."""
    if posting.claimed_at is None or posting.claimed_at > posting.retrieved_at:
        return None
    if posting.published_at < posting.source.added_at:
        return None
    return posting.retrieved_at - posting.published_at


def _editions(posting: Posting) -> tuple[Context, ...]:
    """Earlier ones with their changes to the next edition; None: too long to compare."""
    versions: list[Posting | Edition] = [posting, *postings.earlier_editions(posting.pk)]
    return tuple(
        {
            "edition": edition,
            "changes": word_changes(f"{edition.title}\n{edition.text}", f"{later.title}\n{later.text}"),
        }
        for later, edition in pairwise(versions)
    )


# --- attachments ------------------------------------------------------------------------------------------------------
class Attachment(NamedTuple):
    number: int  # among the posting's enclosures, from 0
    address: str  # on the web
    player: Player  # empty for files that browsers do not play
    media_type: str
    length: int  # bytes, 0 if unknown
    title: str
    played_from: str  # the address that players load, empty for files
    duration: int = 0  # seconds, 0 if unknown
    seconds: float = 0.0  # playback position

    @property
    def start(self) -> str:
        """The address with the playback position, which players support without a script."""
        address = self.played_from or self.address
        return f"{address.partition('#')[0]}#t={self.seconds:.0f}" if self.seconds else address

    @property
    def clock(self) -> str:
        return clock(self.seconds)

    @property
    def whole(self) -> str:
        return clock(self.duration) if self.duration else ""


def attachments(
    enclosures: Iterable[Mapping[str, Any]],
    place: PlaybackPosition | None = None,
    played_from: Callable[[str], str] = lambda address: address,
) -> tuple[Attachment, ...]:
    """The enclosures on the web; `played_from` maps a publisher's address to the one that players load.

    The playback position belongs to the recording with its address, or to the first one: some publishers change the
    addresses of their recordings every time.
    """
    found = []
    for number, enclosure in enumerate(enclosures):
        address = http_address(str(enclosure.get("url") or ""))
        if address and player_of(address) is None:  # else the article shows a card for it
            media_type = str(enclosure.get("media_type") or "")
            length, title = int(enclosure.get("length") or 0), str(enclosure.get("title") or "")
            player = _player(media_type)
            player_address = played_from(address) if player else ""
            duration = int(enclosure.get("duration") or 0)
            found.append(Attachment(number, address, player, media_type, length, title, player_address, duration))
    playable = [each for each in found if each.player]
    if place is not None and playable:
        played = next((each for each in playable if each.address == place.address), playable[0])
        found[found.index(played)] = played._replace(seconds=place.seconds)
    return tuple(found)


def _player(media_type: str) -> Player:
    kind = media_type.partition("/")[0].strip().lower()
    return "audio" if kind == "audio" else "video" if kind == "video" else ""


# --- menu, and the shared page ----------------------------------------------------------------------------------------
def posting_menu(user: User, posting_id: int, place: Mapping[str, str]) -> Context | None:
    """The menu of a posting that the user may read, or None; `place` describes its list. Three queries."""
    posting = row(user, posting_id)
    if posting is None:
        return None
    tags = list(following.tags_of(user))
    return {
        "posting": posting,
        "tags": [tag for tag in tags if tag.name in posting.own_tags],
        "other_tags": [tag for tag in tags if tag.name not in posting.own_tags],
        "destinations": _destinations(user, posting.title, posting.url, posting.source_title),
        **{name: place.get(name, "") for name in ("scope", "order", "shown_at", "next")},
    }


def _destinations(user: User | AnonymousUser, title: str, url: str, source: str) -> list[Context]:
    """Where the user can send an article; `link` is opened by the browser, "" if the portal delivers. One query."""
    if not (url and user.is_authenticated):
        return []
    article = Finding(title, url, "", source, now())
    mine = Destination.objects.filter(user=user).order_by("pk")
    return [{"id": each.pk, "name": each.name, "link": link_of(each, article)} for each in mine]


def destinations_page(user: User) -> Context:
    """One query."""
    services = all_services()
    mine = Destination.objects.filter(user=user).order_by("pk")
    rows = [(each, services[each.service].label if each.service in services else each.service) for each in mine]
    return {"destinations": rows, "services": list(services.values())}


def shared_page(secret: str) -> Context | None:
    """The page at a secret address, or None."""
    share = following.share_at(secret)
    if share is None:
        return None
    posting, anonymous = share.posting, AnonymousUser()
    return {
        "posting": posting,
        "icon": icon_address(posting.source.icon_id),
        "url": http_address(posting.url),  # of the original page, empty if not on the web
        "site_url": http_address(posting.source.site_url),
        "image_url": picture_for(anonymous, http_address(posting.image_url)),
        "summary": summary_part(posting, None),
        "teaser": posting.text[:TEASER],
    }


# --- history, notes and shares ----------------------------------------------------------------------------------------
def history_page(user: User, start: Cursor | None) -> Context:
    """The postings that the user read and may still open, the latest first. Four queries."""
    found = list(following.readings_before(user, start)[: LENGTH + 1])
    shown = found[:LENGTH]
    last = Cursor(shown[-1].read_at, shown[-1].posting_id).encode() if len(found) > LENGTH else ""
    begun = () if start else _with_postings(user, "playback", following.unfinished(user)[:UNFINISHED])
    return {
        "rows": _openable(_with_postings(user, "reading", shown)),
        "begun": _openable(begun),  # unfinished recordings
        "view": view_of(user),
        "next": last,  # cursor of the next page, "" at the end
    }


def notes_page(user: User, words: str, number: str) -> Context:
    """The user's notes, the latest first. Three queries."""
    place = Paginator(following.notes_of(user, words), LENGTH).get_page(number)
    return {
        "rows": _with_postings(user, "note", place),
        "words": words,  # filter
        "place": place,
    }


def shares_page(user: User, number: str) -> Context:
    """The user's shared postings, the latest first. Three queries."""
    place = Paginator(following.shares_of(user), LENGTH).get_page(number)
    return {"rows": _with_postings(user, "share", place), "place": place}


def _with_postings(user: User, name: str, found: Iterable[Any]) -> tuple[Context, ...]:
    """Rows under a name with their postings, or None for a posting that the user may no longer open."""
    things = list(found)
    postings = rows_by_id(user, [each.posting_id for each in things])
    return tuple({name: each, "posting": postings.get(each.posting_id)} for each in things)


def _openable(rows: Iterable[Context]) -> tuple[Context, ...]:
    return tuple(row for row in rows if row["posting"])
