"""Postings and stories in lists, with the addresses of their icons and pictures."""

import functools
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode
from django.utils.translation import gettext, ngettext

from apps.accounts.models import User
from apps.accounts.queries.site import own_address
from apps.database.statements import MAX_ID, fetch_as
from apps.following.queries.copies import COPIES, AlsoIn, also_in, folds
from apps.following.queries.states import OWN, READABLE, STARRED, UNREAD
from apps.postings.algorithms.words import language_of
from apps.search.algorithms.language import And, parse
from apps.search.queries.marks import Marked, Marker, Text
from apps.sources.algorithms.addresses import http_address
from apps.stories.algorithms.ranking import StoryRank
from apps.stories.queries import front as stories
from apps.stories.queries.front import MIN_SOURCES
from apps.summaries.algorithms.reading_time import reading_minutes
from apps.web.algorithms.addresses import picture_address
from apps.web.algorithms.articles import with_players, with_regions
from apps.web.algorithms.pictures import is_on_web, replaced, with_proxied_pictures, with_proxied_recordings

_SALTS = {  # by URL name; another salt would break the addresses in stored pages
    "image": "apps.web.pages.pictures",
    "recording": "apps.reading.actions.recordings",
    "player": "apps.reading.views.players",
}
_WORDS = {"image": "picture", "recording": "recording", "player": "player"}
_SIGNATURE = 16  # bytes

EXCERPT = 320  # characters

OTHERS = 3  # other reports that are named below the lead


# --- icons and pictures -----------------------------------------------------------------------------------------------
@functools.lru_cache(maxsize=10_000)
def icon_address(digest: str | None) -> str:
    """The address of an icon; empty for a feed that has none."""
    return reverse("feed_icon", args=[digest]) if digest else ""


def own_icon(digest: str | None) -> str:
    """The absolute address of an icon, for other programs; empty for a feed that has none."""
    return own_address(icon_address(digest)) if digest else ""


class BadSignature(ValueError):
    """A proxy address was not signed here."""


def choice_of(user: User | AnonymousUser) -> User.Images:
    """The user's setting; for visitors the proxy, so that no site learns what they read."""
    return User.Images(user.images) if user.is_authenticated else User.Images.PROXIED


def picture_for(user: User | AnonymousUser, address: str, choice: str | None = None) -> str:
    """The address to load a picture from, or "" if it is not shown.

    `choice` is the user's setting for this source, empty or None for the general one.
    """
    match User.Images(choice or choice_of(user)):
        case User.Images.PROXIED if is_on_web(address):
            return proxied(address)
        case User.Images.BLOCKED if is_on_web(address):
            return ""
    return address


def article_for(user: User | AnonymousUser, html: str, choice: str | None = None) -> str:
    """A sanitized article for a page, with its pictures according to the setting for its source or the general one."""
    images = User.Images(choice or choice_of(user))
    html = arranged(html, pictured=images != User.Images.BLOCKED)
    match images:
        case User.Images.PROXIED:
            return with_proxied_recordings(with_proxied_pictures(html, proxied), proxied_recording)
        case User.Images.BLOCKED:
            return with_proxied_recordings(replaced(html), proxied_recording)
    return html


def article_for_programs(user: User, html: str) -> str:
    """A sanitized article for another program, whose pictures are loaded according to the user's general setting."""
    match User.Images(choice_of(user)):
        case User.Images.PROXIED:
            return with_proxied_pictures(html, lambda address: own_address(proxied(address)))
        case User.Images.BLOCKED:
            return replaced(html)
    return html


def arranged(html: str, *, pictured: bool) -> str:
    """A sanitized article with cards for players and regions for tables."""
    return with_regions(with_players(html, proxied_player, pictured=pictured), gettext("Table"))


def recording_for(user: User | AnonymousUser, address: str, choice: str | None = None) -> str:
    """The address to play a recording from. None is blocked, since nothing is loaded before playback."""
    is_direct = User.Images(choice or choice_of(user)) == User.Images.DIRECT
    return address if is_direct else proxied_recording(address)


def proxied(address: str) -> str:
    """The proxy address of a picture."""
    return _proxied(address, "image")


def proxied_recording(address: str) -> str:
    """The proxy address of audio or video."""
    return _proxied(address.partition("#")[0], "recording")


def proxied_player(address: str) -> str:
    """The address of our frame for the player of what a page shows."""
    return _proxied(address, "player")


def _proxied(address: str, kind: str) -> str:
    return reverse(kind, args=[_signature(address, kind), urlsafe_base64_encode(address.encode())])


def address_in(signature: str, encoded: str, *, kind: str = "image") -> str:
    """The publisher's address in a proxy address; raises BadSignature if it was not signed here."""
    try:
        address = urlsafe_base64_decode(encoded).decode()
    except ValueError as error:
        raise BadSignature(f"This is no address of a {_WORDS[kind]}.") from error
    if not constant_time_compare(signature, _signature(address, kind)):
        raise BadSignature(f"The address of this {_WORDS[kind]} was not signed here.")
    return address


def _signature(address: str, kind: str) -> str:
    return urlsafe_base64_encode(salted_hmac(_SALTS[kind], address, algorithm="sha256").digest()[:_SIGNATURE])


# --- postings ---------------------------------------------------------------------------------------------------------
class PostingRow(NamedTuple):
    id: int
    url: str  # empty if it leads to no page of the web
    title: str
    excerpt: str
    characters: int  # of the whole text
    language: str
    image_url: str  # empty if none is shown
    source_id: int
    source_title: str
    story_id: int | None  # of a story with other sources
    published_at: datetime
    unread: bool  # this or, if lists are folded, the article
    starred: bool  # this or, if lists are folded, one of its copies
    own_tags: tuple[str, ...]  # the user's, by name
    images: str = ""  # the user's setting for the source
    also: tuple[AlsoIn, ...] = ()  # other feeds of the same article
    icon: str = ""  # address of the source's icon; empty if it has none
    audio: Mapping[str, Any] | None = None  # first recording: `number`, `address`, `seconds` or None
    highlights: Sequence[str] = ()  # queries of the user's rules that highlight it
    marked: Marked | None = None  # by them; None without

    @property
    def anchor(self) -> str:
        return str(self.id)

    @property
    def also_words(self) -> str:
        count = len(self.also)
        return ngettext("+%(count)s feed", "+%(count)s feeds", count) % {"count": count}

    @property
    def is_cut(self) -> bool:
        """Whether the text is longer than the excerpt."""
        return self.characters > len(self.excerpt)

    @property
    def minutes(self) -> int:
        """Reading time of the whole text."""
        return reading_minutes(self.excerpt, self.characters)


# Runs thousands of times a minute: raw SQL is prepared, and costs no query building.
_ROWS = f"""
WITH highlighting AS MATERIALIZED (
    SELECT saved.id, query FROM search_savedsearch saved JOIN alerts_rule rule ON rule.saved_id = saved.id
    WHERE user_id = %(user)s AND highlight
)
SELECT posting.id, posting.url, posting.title, left(coalesce(posting.lead, posting.text), {EXCERPT}) AS excerpt,
    length(posting.text) AS characters, posting.language, posting.image_url, posting.source_id,
    coalesce(nullif(follow.title, ''), nullif(source.title, ''), source.url) AS source_title,
    (SELECT story.id FROM stories_member member JOIN stories_story story ON story.id = member.story_id
        WHERE member.posting_id = posting.id AND story.sources >= {MIN_SOURCES}) AS story_id,
    posting.published_at, ({UNREAD} OR %(folds)s AND copies.unread) AS unread,
    ({STARRED} OR %(folds)s AND copies.starred) AS starred,
    ARRAY(SELECT tag.name FROM following_tagging tagging JOIN following_tag tag ON tag.id = tagging.tag_id
        WHERE tagging.posting_id = posting.id AND tag.user_id = %(user)s ORDER BY tag.name) AS own_tags,
    coalesce(follow.images, '') AS images, coalesce(source.icon_id, '') AS icon, copies.also,
    CASE WHEN posting.enclosures <> '[]' THEN (
        SELECT jsonb_build_object('number', number - 1, 'address', file -> 'url', 'seconds', file -> 'duration')
        FROM jsonb_array_elements(posting.enclosures) WITH ORDINALITY AS files (file, number)
        WHERE starts_with(file ->> 'media_type', 'audio/') ORDER BY number LIMIT 1) END AS audio,
    ARRAY(SELECT query FROM highlighting WHERE EXISTS (
        SELECT FROM alerts_hit WHERE saved_id = highlighting.id AND posting_id = posting.id)) AS highlights
FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY AS wanted (id, place)
JOIN postings_posting posting ON posting.id = wanted.id
{OWN}
{COPIES}
WHERE {READABLE}
ORDER BY wanted.place
"""


def rows(user: User | AnonymousUser, posting_ids: Collection[int]) -> list[PostingRow]:
    """Those of the postings that the user may read, in the given order. One query."""
    if not posting_ids:
        return []
    names = {"user": user.pk or 0, "ids": [id for id in posting_ids if id <= MAX_ID], "folds": folds(user)}
    return [_row(user, found) for found in fetch_as(PostingRow, _ROWS, names, generic=True)]


def rows_by_id(user: User | AnonymousUser, posting_ids: Collection[int]) -> dict[int, PostingRow]:
    return {row.id: row for row in rows(user, posting_ids)}


def row(user: User, posting_id: int) -> PostingRow | None:
    return next(iter(rows(user, [posting_id])), None)


def _row(user: User | AnonymousUser, row: PostingRow) -> PostingRow:
    return row._replace(
        url=http_address(row.url),
        image_url=picture_for(user, picture_address(row.image_url), row.images),
        own_tags=tuple(row.own_tags),
        icon=icon_address(row.icon),
        also=also_in(row.also),
        audio=_audio(user, row),
        marked=_marked(row) if row.highlights else None,
    )


def _marked(row: PostingRow) -> Marked:
    text = Text(row.title, row.excerpt, language_of(f"{row.title}\n{row.excerpt}", row.language))
    return Marker(And(tuple(parse(query) for query in row.highlights)), {}).mark(text)


def _audio(user: User | AnonymousUser, row: PostingRow) -> Mapping[str, Any] | None:
    address = http_address(str(row.audio["address"])) if row.audio else ""
    return {**row.audio, "address": recording_for(user, address, row.images)} if row.audio and address else None


# --- stories ----------------------------------------------------------------------------------------------------------
class StoryRow(NamedTuple):
    """A story in a list, represented by its lead."""

    id: int
    lead: PostingRow
    others: tuple[PostingRow, ...]
    sources: int
    reports: int
    place: StoryRank
    is_personal: bool

    @property
    def more(self) -> int:
        return max(self.reports - 1 - len(self.others), 0)


def story_rows(user: User | AnonymousUser, shown: Sequence[stories.Front]) -> tuple[StoryRow, ...]:
    """The stories that the user may read. Two queries."""
    if not shown:
        return ()
    others = stories.other_reports([(front.story.pk, front.lead_id) for front in shown], OTHERS + 1)
    wanted = [front.lead_id for front in shown] + [id for ids in others.values() for id in ids]
    found = rows_by_id(user, wanted)
    return tuple(
        StoryRow(
            front.story.pk,
            found[front.lead_id],
            tuple(found[id] for id in others.get(front.story.pk, ()) if id in found)[:OTHERS],
            front.sources,
            front.reports,
            front.place,
            front.is_personal,
        )
        for front in shown
        if front.lead_id in found
    )
