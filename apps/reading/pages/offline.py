"""Postings that a browser stores for offline reading."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from django.db.models import Case, CharField, F, QuerySet, Value, When
from django.db.models.functions import Length

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.queries import Scope
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.reading.algorithms.kept_pictures import with_one_address_each
from apps.web.algorithms.pictures import is_on_web, led_through, played_through, replaced
from apps.web.pages import Context
from apps.web.pages.rows import PostingRow, arranged, choice_of, proxied, proxied_recording, rows_by_id

LENGTHS = (0, 50, 100, 200)  # postings to store
AT_ONCE = 25  # postings per response
MAX_HTML_LENGTH = 300_000  # characters; of longer texts only the excerpt is stored
MAX_KEPT_BYTES = 50 * 2**20  # in a browser, text and pictures together


def kept_states(user: User, length: int) -> list[Context]:
    """The newest postings of the user's river: unread ones first, then read ones. Two queries."""
    river = following.postings_in(user, Scope("all"))
    unread = _states(following.unread(river, user), length)
    if len(unread) < length:
        taken = {state["id"] for state in unread}
        newest = _states(following.with_state(river, user), length)
        unread += [state for state in newest if state["id"] not in taken][: length - len(unread)]
    return unread


def _states(found: QuerySet[Posting], length: int) -> list[Context]:
    newest: Iterable[Any] = postings.newest(found).only("text_hash")[:length]  # with `unread` and `starred`
    return [
        {"id": one.pk, "version": _version(one.text_hash), "unread": one.unread, "starred": one.starred}
        for one in newest
    ]


def _version(text_hash: bytes | memoryview) -> str:
    """It changes with the text."""
    return bytes(text_hash).hex()[:16]


def kept_postings(user: User, posting_ids: Collection[int], *, pictures: bool) -> list[Context]:
    """Those of the postings that the user may read, unordered. Two queries."""
    mine = following.readable_by(user).filter(pk__in=posting_ids)
    shown = rows_by_id(user, posting_ids)
    html = Case(
        When(length__lte=MAX_HTML_LENGTH, then=F("html")), default=Value(None), output_field=CharField(null=True)
    )
    columns = ("pk", "text_hash", "author", "kept", "image_url")
    return [
        {"version": _version(row.text_hash), "author": row.author}
        | _content(user, shown[row.pk], row.kept, row.image_url, pictures=pictures)
        for row in mine.annotate(length=Length("html"), kept=html).values_list(*columns, named=True)
        if row.pk in shown
    ]


def _content(user: User, row: PostingRow, html: str | None, image_url: str, *, pictures: bool) -> Context:
    """Pictures are proxied regardless of the setting, since other sites' cannot be stored."""
    shows = pictures and choice_of(user) != User.Images.BLOCKED
    small = proxied(image_url) if shows and is_on_web(image_url) else ""
    addresses: list[str] = []
    if html is not None:
        html = arranged(html, pictured=shows)
        html, addresses = with_one_address_each(led_through(html, proxied) if shows else replaced(html))
        html = played_through(html, proxied_recording)
    ours = dict.fromkeys(address for address in [small, *addresses] if address.startswith("/"))
    return {"row": replace(row, image_url=small), "html": html, "pictures": tuple(ours)}  # without html: too long
