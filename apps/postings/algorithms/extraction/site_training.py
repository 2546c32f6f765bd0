"""The training of a site's keen tags from raw pages, with how much it helps. Runs in a child process."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.postings.algorithms.extraction.documents import MAX_PAGE_BYTES, decode
from apps.postings.algorithms.extraction.literal import keen_tags
from apps.postings.algorithms.extraction.measures import f1, shingles, words
from apps.postings.algorithms.extraction.site_tags import UNIVERSAL, KnownPage, learn_site_tags


@dataclass(frozen=True, slots=True)
class Trained:
    tags: frozenset[str]
    pages: int
    before: float  # mean F1 of four-word shingles with the universal keen tags
    after: float  # the same with the site's own


def train_site_tags(pages: Sequence[tuple[bytes, str, str]]) -> Trained:
    """Learn keen tags from pages of one site: the body of each, its content type, and its text as it is known.

    >>> story = "The council voted on Tuesday to keep the old bridge open."
    >>> page = f"<td>Menu, search, weather and horoscope of the day<td><p>{story}<dfn>{story}</dfn>".encode()
    >>> trained = train_site_tags([(page, "text/html", 2 * story)])
    >>> "dfn" in trained.tags, trained.before < trained.after
    (True, True)
    """
    known = [KnownPage(decode(body[:MAX_PAGE_BYTES], content_type)[0], text) for body, content_type, text in pages]
    tags = learn_site_tags(known)
    return Trained(tags, len(known), _f1(known, UNIVERSAL), _f1(known, tags))


def _f1(pages: Sequence[KnownPage], tags: frozenset[str]) -> float:
    texts = ((page.text, keen_tags(page.source, keen=tags).text) for page in pages)
    return sum(f1(shingles(words(known)), shingles(words(found))) for known, found in texts) / max(1, len(pages))
