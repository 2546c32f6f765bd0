"""Keen tags of a site, learned from pages with known text.

The thesis has a training phase that finds "website-related" keen tags by "pre-defined rules" which it does not give.
Here the rule is: a tag is keen if pages come out better with it, by the F1 of four-word shingles.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from apps.postings.algorithms.extraction import literal
from apps.postings.algorithms.extraction.choosing import Shingle, f1, shingles, words
from apps.postings.algorithms.extraction.documents import MAX_PAGE_BYTES, decode
from apps.postings.algorithms.extraction.literal import Tag, best_part, keen_tags, tokens

# Learned greedily from literal.UNIVERSAL on pages of many sites: tags added while F1 rose by 0.0005, then removed.
UNIVERSAL = frozenset({
    "a", "aside", "b", "blockquote", "br", "center", "div", "em", "figcaption", "figure", "font", "footer", "h2",
    "h3", "h4", "h6", "hr", "i", "iframe", "img", "p", "picture", "q", "section", "source", "span", "strong",
    "time", "u",
})  # fmt: skip
SITE_GAIN = 0.003  # that a site's pages must rise by, in mean F1
MAX_FREQUENT = 40  # tags of a site that are tried
MAX_PAGES = 10  # per site; more would take long and teach little
ALSO_TRIED = ("svg", "path", "use", "li", "ul", "button")


class KnownPage(NamedTuple):
    source: str  # html
    text: str  # of its article


def learn_site_tags(pages: Sequence[KnownPage], *, start: frozenset[str] = UNIVERSAL) -> frozenset[str]:
    """The keen tags of a site: the universal ones with the changes that make its pages come out better.

    Parameters
    ----------
    pages : sequence of KnownPage
        A few are enough; of more than 10 the first are used. Without any, `start` is returned.
    start : frozenset of str
        What the learning begins with.

    Examples
    --------
    >>> story = "The council voted on Tuesday to keep the old bridge open."
    >>> menu = "<td>Menu, search, weather and horoscope of the day"
    >>> page = KnownPage(f"{menu}<td><p>{story}<dfn>{story}</dfn>", 2 * story)
    >>> sorted(learn_site_tags([page], start=frozenset({"p"})))
    ['dfn', 'p']
    """
    samples = [_Sample(page) for page in pages[:MAX_PAGES]]
    if not samples:
        return start
    frequent = Counter(name for sample in samples for name in sample.names)
    frequent.pop("", None)
    tried = [name for name, _ in frequent.most_common(MAX_FREQUENT)]
    tried += [name for name in (*sorted(start), *ALSO_TRIED) if name not in tried and name in frequent]
    keen, best = start, _mean_f1(samples, start)
    for name in tried:
        changed = keen ^ {name}
        if (score := _mean_f1(samples, changed)) > best + SITE_GAIN:
            keen, best = changed, score
    return keen


class _Sample:
    """A page cut into strings and tags once, since it is scored with many sets of tags."""

    def __init__(self, page: KnownPage) -> None:
        self.tokens: list[str | Tag] = list(tokens(page.source[: literal.MAX_SOURCE_LENGTH]))
        self.names = [token.name for token in self.tokens if isinstance(token, Tag)]
        self.expected: Counter[Shingle] = shingles(words(page.text))
        self._seen: dict[str, float] = {}

    def f1(self, keen: frozenset[str]) -> float:
        text = best_part(self.tokens, keen=keen, comments_split=False).text
        if text not in self._seen:
            self._seen[text] = f1(self.expected, shingles(words(text)))
        return self._seen[text]


def _mean_f1(samples: Iterable[_Sample], keen: frozenset[str]) -> float:
    found = [sample.f1(keen) for sample in samples]
    return sum(found) / len(found)


# --- training ---------------------------------------------------------------------------------------------------------
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
