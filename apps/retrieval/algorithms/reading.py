"""What a page of a crawled site holds: the links of an index, the article of a news page. Runs in a child process."""

from dataclasses import dataclass

from lxml import etree

from apps.postings.algorithms.extraction import keen, metadata
from apps.postings.algorithms.extraction.articles import KEEN_TAGS, Article, article_of, extract_article
from apps.postings.algorithms.extraction.documents import read_page
from apps.postings.algorithms.extraction.kinds import classify
from apps.retrieval.algorithms.crawl import sitemaps
from apps.retrieval.algorithms.crawl.links import Link, links_of, robots_directives
from apps.sources.formats.feed import NotAFeed, ParsedFeed


@dataclass(frozen=True, slots=True)
class IndexReading:
    """A page that leads to others."""

    about: ParsedFeed  # what it says of its site; without entries
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class PageReading:
    """Any page of a site: Algorithm I of Ai-Times knows three kinds."""

    kind: str  # "news", "index" or "valueless"
    probability: float
    reasons: tuple[str, ...]  # for people
    run_length: int  # characters of the text that was found
    noindex: bool  # it asks programs not to remember it
    article: Article | None  # of a news page, and of any whose text is wanted
    index: IndexReading | None  # of an index page


def read_index(body: bytes, *, content_type: str, url: str) -> IndexReading:
    """The links of a page that is known to be an index: of HTML, or a sitemap.

    Raises
    ------
    NotAFeed
        If there is nothing in it that links could be taken from.
    """
    entries = _sitemap_links(body, url)
    if entries is not None:
        return IndexReading(ParsedFeed(kind="sitemap"), entries)
    root = read_page(body, content_type=content_type).root
    if root is None:
        raise NotAFeed("The page is empty.")
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
    """Decide what kind a page is, and read it as that.

    Parameters
    ----------
    body, content_type, url
        The page as it was fetched.
    robots_header
        What the answer's X-Robots-Tag says.
    wants_article
        Read its text whatever kind it seems to be: somebody knows that it is an article.
    keen_tags
        The keen tags learnt of the site: its text is taken by Algorithm II of Ai-Times with these.

    Raises
    ------
    NotAFeed
        If the page is empty.
    """
    entries = _sitemap_links(body, url)
    if entries is not None:
        about = IndexReading(ParsedFeed(kind="sitemap"), entries)
        return PageReading("index", 1.0, ("It is a sitemap.",), 0, False, None, about)
    root = read_page(body, content_type=content_type).root
    if root is None:
        raise NotAFeed("The page is empty.")
    said = metadata.read_metadata(root, url=url)
    extract = keen.extract(root)
    verdict = classify(root, extract, said, url)
    article = None
    if wants_article or verdict.kind == "news":
        article = (
            extract_article(body, content_type=content_type, url=url, engine=KEEN_TAGS, site_tags=keen_tags)
            if keen_tags
            else article_of(extract, said)
        )
    return PageReading(
        kind=verdict.kind,
        probability=verdict.probability,
        reasons=verdict.reasons,
        run_length=verdict.text_size,
        noindex=robots_directives(root, url, header=robots_header).noindex,
        article=article,
        index=_index(root, said, url) if verdict.kind == "index" else None,
    )


def _sitemap_links(body: bytes, url: str) -> tuple[Link, ...] | None:
    try:
        return sitemaps.links_in(body, url=url)
    except sitemaps.NotASitemap:
        return None


def _index(root: etree._Element, said: metadata.Metadata, url: str) -> IndexReading:
    about = ParsedFeed(
        kind="page",
        title=said.title,
        link=url,
        description=said.description,
        language=said.language,
        image_url=said.image_url,
    )
    follows = not robots_directives(root, url).nofollow
    return IndexReading(about, tuple(links_of(root, url)) if follows else ())
