"""Pages that were kept of postings, made up: an article of some paragraphs amid what else a news site shows."""

from collections.abc import Iterator
from datetime import UTC, datetime
from html import escape

from django.db import connection

from apps.documents import actions as documents
from lab.worlds.feed import Text
from lab.worlds.synthetic import compose
from lab.worlds.vocabulary import ENGLISH

SIZE = 20_000  # bytes of a page, about
ARTICLE = 8  # texts in an article
DAY = 86_400.0  # s


def keep_pages(posting_ids: list[int], *, seed: int) -> Iterator[int]:
    """Store a page of each posting; yields the number of each stored one."""
    now = datetime.now(UTC)
    for number, posting_id in enumerate(posting_ids):
        page = render(seed, number).encode()
        digest = documents.keep(
            page, url=f"https://news.example/page/{number}", content_type="text/html; charset=utf-8", now=now
        )
        with connection.cursor() as cursor:
            cursor.execute("UPDATE postings_posting SET document = %s WHERE id = %s", [digest, posting_id])
        yield posting_id


def render(seed: int, number: int) -> str:
    """The page of a posting, 20 kB or so, the same for the same arguments."""
    texts = [compose(seed, number, part, DAY * number, ENGLISH) for part in range(ARTICLE)]
    others = [compose(seed + 1, number, part, DAY * number, ENGLISH) for part in range(2 * ARTICLE)]
    paragraphs = "\n".join(f"<p>{escape(each)}</p>" for text in texts for each in text.paragraphs)
    head = (
        f"<title>{escape(texts[0].title)}</title>"
        f'<meta name="description" content="{escape(texts[0].paragraphs[0][:150])}">'
    )
    menu = "".join(f'<li><a href="/section/{part}">{escape(other.title)}</a></li>' for part, other in enumerate(others))
    article = f"<article><h1>{escape(texts[0].title)}</h1>{paragraphs}</article>"
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">{head}</head><body><nav><ul>{menu}</ul></nav>'
        f"<main>{article}</main><aside>{_teasers(others)}</aside>"
    )
    filling = "".join(
        f'<li><a href="/tag/{part}">Topic {part}</a></li>' for part in range(max(0, SIZE - len(page)) // 40)
    )
    return f"{page}<footer><ul>{filling}</ul></footer></body></html>"


def _teasers(texts: list[Text]) -> str:
    return "".join(
        f'<div class="teaser"><h3><a href="/story/{number}">{escape(text.title)}</a></h3>'
        f"<p>{escape(text.paragraphs[0][:120])}…</p></div>"
        for number, text in enumerate(texts)
    )
