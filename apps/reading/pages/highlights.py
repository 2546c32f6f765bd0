"""Highlighted passages of a user: their page, and their export."""

from collections.abc import Iterable

from django.core.paginator import Paginator

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.algorithms.passages import Passage, Text
from apps.following.models import Highlight
from apps.postings.models import Posting
from apps.reading.pages.posting import LENGTH
from apps.sources.algorithms.addresses import http_address
from apps.web.pages import Context
from apps.web.pages.rows import rows_by_id


def highlights_page(user: User, words: str, number: str) -> Context:
    """The user's highlights, the latest first. Four queries."""
    place = Paginator(following.highlights_of(user, words), LENGTH).get_page(number)
    shown = list(place)
    gone = lost_among(user, shown)
    postings = rows_by_id(user, {each.posting_id for each in shown})
    rows = [{"highlight": each, "posting": postings.get(each.posting_id), "is_gone": each.pk in gone} for each in shown]
    return {"rows": rows, "words": words, "place": place}


def lost_among(user: User, highlights: Iterable[Highlight]) -> set[int]:
    """Those of the highlights whose passage is no longer in the text that the user may read. One query."""
    by_posting: dict[int, list[Highlight]] = {}
    for each in highlights:
        by_posting.setdefault(each.posting_id, []).append(each)
    found = following.readable_by(user).filter(pk__in=by_posting).only("html", "feed_html")
    lost = {each.pk for several in by_posting.values() for each in several}
    for posting in found:
        texts = [Text(html) for html in (posting.html, posting.feed_html) if html]
        lost -= {each.pk for each in by_posting[posting.pk] if any(text.find(passage_of(each)) for text in texts)}
    return lost


def passage_of(highlight: Highlight) -> Passage:
    return Passage(highlight.quote, highlight.prefix, highlight.suffix)


def exported(user: User, words: str) -> list[Context]:
    """Highlights by article, the latest first, for a file: at most `MAX_HIGHLIGHTS`."""
    by_posting: dict[int, list[Highlight]] = {}
    for each in following.highlights_of(user, words):
        by_posting.setdefault(each.posting_id, []).append(each)
    known = Posting.objects.filter(pk__in=by_posting).select_related("source").defer("html", "text", "feed_html")
    postings = {posting.pk: posting for posting in known}
    return [
        {
            "title": postings[posting_id].title,
            "url": http_address(postings[posting_id].url),
            "feed": postings[posting_id].source.title,
            "published_at": postings[posting_id].published_at,
            "highlights": [
                {"quote": each.quote, "note": each.note, "made_at": each.made_at} for each in reversed(several)
            ],
        }
        for posting_id, several in by_posting.items()
    ]
