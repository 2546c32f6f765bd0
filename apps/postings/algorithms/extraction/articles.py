"""Articles from the bytes of pages, without references to the tree."""

from dataclasses import dataclass, fields

from apps.postings.algorithms.extraction import keen, literal
from apps.postings.algorithms.extraction.documents import MAX_PAGE_BYTES, decode, read_page
from apps.postings.algorithms.extraction.metadata import ArticleMetadata, Metadata, detect_language, read_metadata
from apps.sources.formats.text import paragraphs, without_controls

KEEN_TAGS = "keen_tags"  # the extractor of Algorithm II
MAX_TEXT_LENGTH = 500_000  # characters; the rest is cut off
MAX_HTML = 2 * MAX_TEXT_LENGTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Article(ArticleMetadata):
    """The text of a page with its metadata; the language is detected from the text if the page does not state it."""

    text: str
    html: str  # not yet made safe
    confidence: float  # 0 to 1
    extractor: str  # the weights' version, or "keen_tags"


def extract_article(body: bytes, *, content_type: str, url: str, site_tags: frozenset[str] | None = None) -> Article:
    """The article of a web page. Never raises on account of the page.

    Parameters
    ----------
    body : bytes
    content_type : str
        The header, which may name a charset.
    url : str
        The page's address.
    site_tags : frozenset of str, optional
        The site's keen tags, for Algorithm II of the thesis; without them the article is found by learned weights.

    Examples
    --------
    >>> page = "<title>Bridge</title><p>" + "The council voted on Tuesday to keep the old bridge open. " * 6
    >>> article = extract_article(page.encode(), content_type="text/html", url="https://example.org/1")
    >>> article.title, article.language, article.text[:11]
    ('Bridge', 'en', 'The council')
    """
    page = read_page(body, content_type=content_type)
    metadata = read_metadata(page.root, url=url)
    if not site_tags:
        return article_of(keen.extract(page.root), metadata)
    source = without_controls(decode(body[:MAX_PAGE_BYTES], content_type)[0])
    part = literal.keen_tags(source, keen=site_tags)
    html = paragraphs(part.text.replace("\n", "\n\n"))
    return _article(part.text, html, float(part.is_news), KEEN_TAGS, metadata)


def article_of(extract: keen.Extract, metadata: Metadata) -> Article:
    """The article of a parsed page."""
    return _article(extract.text, extract.html, extract.confidence, keen.shipped_model().version, metadata)


def _article(text: str, html: str, confidence: float, extractor: str, metadata: Metadata) -> Article:
    stated = {field.name: getattr(metadata, field.name) for field in fields(ArticleMetadata)}
    stated["language"] = metadata.language or detect_language(text)
    return Article(
        **stated, text=text[:MAX_TEXT_LENGTH], html=html[:MAX_HTML], confidence=confidence, extractor=extractor
    )
