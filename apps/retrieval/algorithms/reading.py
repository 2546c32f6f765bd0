"""Reads a page of a crawled site: the links of an index, the article of a news page. Runs in a child process."""

from dataclasses import dataclass

from lxml import etree

from apps.postings.algorithms.extraction import keen, metadata
from apps.postings.algorithms.extraction.articles import Article, article_of, extract_article
from apps.postings.algorithms.extraction.documents import read_page
from apps.postings.algorithms.extraction.kinds import classify
from apps.retrieval.algorithms.crawl import sitemaps
from apps.retrieval.algorithms.crawl.links import Link, links_of, robots_directives
from apps.sources.formats.feed import NotAFeed, ParsedFeed


@dataclass(frozen=True, slots=True)
class IndexReading:
    """A page that leads to others."""

    about: ParsedFeed  # its site's metadata; without entries
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class PageReading:
    """Any page of a site: Algorithm I of Ai-Times knows three kinds."""

    kind: str  # "news", "index" or "valueless"
    probability: float
    reasons: tuple[str, ...]  # for people
    run_length: int  # characters of the text that was found
    noindex: bool  # by its robots directives
    article: Article | None  # of a news page, and of any whose text is wanted
    index: IndexReading | None  # of an index page


def read_icon(body: bytes) -> str:
    """`small_icon`, for which the child process alone loads Pillow."""
    from apps.retrieval.algorithms.icons import small_icon  # noqa: PLC0415

    return small_icon(body)


def read_index(body: bytes, *, content_type: str, url: str) -> IndexReading:
    """The links of a page that is known to be an index: of HTML, or a sitemap. Raises NotAFeed if it is empty."""
    if sitemap := _read_sitemap(body, url):
        return sitemap
    root = _root_of(body, content_type)
    return _index(root, metadata.read_metadata(root, url=url), url)


def read_site_page(
    body: bytes,
    *,
    content_type: str,
    url: str,
    robots_header: str = "",
    wants_article: bool = False,
    keen_tags: frozenset[str] | None = None,
) -> PageReading:
    """Classify a page and read it as that kind. Raises NotAFeed if it is empty.

    `robots_header` is the value of X-Robots-Tag. With `wants_article` the text is read whatever the kind; with the
    `keen_tags` learned of the site it is extracted by Algorithm II of Ai-Times.
    """
    if sitemap := _read_sitemap(body, url):
        return PageReading("index", 1.0, ("It is a sitemap.",), 0, False, None, sitemap)
    root = _root_of(body, content_type)
    about = metadata.read_metadata(root, url=url)
    extract = keen.extract(root)
    verdict = classify(root, extract, about, url)
    article = None
    if wants_article or verdict.kind == "news":
        article = (
            extract_article(body, content_type=content_type, url=url, site_tags=keen_tags)
            if keen_tags
            else article_of(extract, about)
        )
    return PageReading(
        kind=verdict.kind,
        probability=verdict.probability,
        reasons=verdict.reasons,
        run_length=verdict.text_size,
        noindex=robots_directives(root, header=robots_header).noindex,
        article=article,
        index=_index(root, about, url) if verdict.kind == "index" else None,
    )


def _read_sitemap(body: bytes, url: str) -> IndexReading | None:
    try:
        return IndexReading(ParsedFeed(kind="sitemap"), sitemaps.links_in(body, url=url))
    except sitemaps.NotASitemap:
        return None


def _root_of(body: bytes, content_type: str) -> etree._Element:
    root = read_page(body, content_type=content_type).root
    if root is None:
        raise NotAFeed("The page is empty.")
    return root


def _index(root: etree._Element, about: metadata.Metadata, url: str) -> IndexReading:
    feed = ParsedFeed(
        kind="page",
        title=about.title,
        link=url,
        description=about.description,
        language=about.language,
        image_url=about.image_url,
    )
    follows = not robots_directives(root).nofollow
    return IndexReading(feed, tuple(links_of(root, url)) if follows else ())
