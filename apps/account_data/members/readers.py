"""Exports of other readers: lists of feeds, and starred, tagged and read articles."""

from collections.abc import Sequence
from datetime import datetime
from secrets import token_urlsafe

from django.utils.translation import gettext as _

from apps.account_data.formats import exports
from apps.account_data.formats.container import SingleFile
from apps.account_data.formats.exports import Article
from apps.account_data.formats.problems import BadArchive
from apps.account_data.formats.records import Record
from apps.account_data.members.base import Import, batches, let_wait
from apps.account_data.members.following import OPML, follow_all_of
from apps.account_data.members.marks import MARKS, TAGS
from apps.accounts.models import User
from apps.accounts.queries.site import own_address
from apps.following import actions, queries
from apps.following.actions.restoring import restore_follow, restore_marks, restore_tags
from apps.postings.actions import Document, store
from apps.postings.queries.recognition import ForeignPosting, recognize
from apps.sources.actions.curating import delete_sources
from apps.sources.actions.editing import add_source, set_state
from apps.sources.formats.feed import ParsedEntry
from apps.sources.models import Source

STORED = "stored"  # articles that no feed contains any longer
MAX_SKIPPED = 1_000  # that are reported


def take_export(running: Import) -> None:
    """Import lists of feeds, then articles. Raises BadArchive with the place."""
    User.objects.select_for_update().get(pk=running.user.pk)  # two at once could store an article twice
    is_empty, container = True, running.container
    # Lists first, so that the feeds of articles are known.
    for name in sorted(container.names, key=lambda name: ("opml" not in name.lower(), name)):
        if not (isinstance(container, SingleFile) or name.lower().endswith((".opml", ".xml", ".json"))):
            continue
        data = container.whole(name, exports.MAX_FILE_BYTES)
        if b"<opml" in data[:2_000].lower():
            report = follow_all_of(running, name, data)
            is_empty = is_empty and not (report.followed or report.already_followed or report.skipped)
            running.restored[OPML] += len(report.followed)
            running.skipped += [(f"{name}, line {each.line}", each.reason) for each in report.skipped]
        else:
            is_empty = False
            articles, skipped = exports.read(name, data)
            running.skipped += skipped
            for batch in batches(iter(articles)):
                _take_articles(running, name, batch)
    if is_empty:
        raise BadArchive("It contains no list of feeds and no articles.")


def _take_articles(running: Import, name: str, articles: Sequence[Article]) -> None:
    own_id = _own_source(running.user)
    known = running.source_ids({article.feed for article in articles if article.feed})
    # What was stored before, first: importing twice must not mark another copy.
    found = _recognized(articles, [own_id] * len(articles))
    there = _recognized(articles, [known.get(article.feed, 0) for article in articles])
    ids = [mine or its for mine, its in zip(found, there, strict=True)]
    missing = [each for each, id in zip(articles, ids, strict=True) if id is None and (each.is_starred or each.tags)]
    if missing:
        own_id = own_id or _add_own_source(running.user, running.now)
        entries = [_entry(article) for article in missing]
        [stored] = store([Document(own_id, entries, own_address("/"), "", "", running.now)])
        running.restored[STORED] += stored.new
        now_found = dict(zip(map(id, missing), _recognized(missing, [own_id] * len(missing)), strict=True))
        ids = [known_id or now_found.get(id(article)) for article, known_id in zip(articles, ids, strict=True)]
    _mark(running, name, articles, ids, known)


def _mark(
    running: Import, name: str, articles: Sequence[Article], ids: Sequence[int | None], known: dict[str, int]
) -> None:
    marks, tagged, waiting = {}, [], []
    for article, posting_id in zip(articles, ids, strict=True):
        # At the time of the article, so that later marks of the user here take precedence.
        at = min(article.starred_at or article.published or running.now, running.now)
        mark = {"read": article.is_read, "starred_at": at if article.is_starred else None, "changed_at": at}
        if posting_id is not None:
            tagged += [(tag, posting_id, at) for tag in article.tags]
            if article.is_starred or article.is_read is not None:
                marks[posting_id] = mark
        elif article.is_read and article.feed in known:
            reference = {"source": article.feed, "guid": article.guid, "url": article.url, "title": article.title}
            line = reference | mark | {"changed_at": at.isoformat()}
            waiting.append((known[article.feed], Record(line, name)))
        elif article.is_read:
            running.left_out += 1
    running.restored[MARKS] += restore_marks(running.user, marks)
    running.restored[TAGS] += restore_tags(running.user, tagged)
    let_wait(running, MARKS, waiting)


def _recognized(articles: Sequence[Article], source_ids: Sequence[int]) -> list[int | None]:
    pairs = zip(articles, source_ids, strict=True)
    return recognize([ForeignPosting(source_id, each.guid, each.url, each.title) for each, source_id in pairs])


def _entry(article: Article) -> ParsedEntry:
    return ParsedEntry(
        guid=article.guid,
        link=article.url,
        title=article.title,
        content=article.html,
        published=article.published,
        authors=(article.author,) if article.author else (),
        categories=(article.feed_title,) if article.feed_title else (),
    )


# --- the source of articles that no feed contains any longer: private, and never checked ------------------------------
def _own_source(user: User) -> int:
    """0 if the user has none."""
    mine = queries.follows_of(user).filter(source__state=Source.State.IMPORTED)
    return mine.values_list("source_id", flat=True).first() or 0


def _add_own_source(user: User, now: datetime) -> int:
    """Its address is secret, because with it one can follow the source."""
    address = own_address(f"/imported/{token_urlsafe(24)}")
    source_id = add_source(Source(url=address, title=_("Imported articles")))
    set_state([source_id], Source.State.IMPORTED)
    actions.follows.follow(user, [source_id], now=now)
    restore_follow(user, source_id, unread_from=now)  # they were read elsewhere
    return source_id


def delete_own_source(user: User) -> None:
    if source_id := _own_source(user):
        delete_sources([source_id])
