"""Extractors side by side: ours, those of the thesis, and libraries that others have written."""

import importlib
import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from lxml import etree

from apps.postings.algorithms.extraction import keen, literal
from apps.postings.algorithms.extraction.documents import decode, read_page
from apps.postings.algorithms.extraction.site_tags import UNIVERSAL, KnownPage, learn_site_tags

Extractor = Callable[[bytes, str], str]  # from a page's body and address to the text of its article

TAUGHT_BY = 4  # pages of a site, at most, that its keen tags are learnt from


@dataclass(frozen=True, slots=True)
class GivenPage:
    """A page whose article somebody has taken out by hand."""

    name: str
    url: str
    domain: str
    body: bytes
    text: str


def ours(model: keen.Model | None = None) -> Extractor:
    return lambda body, url: keen.extract(read_page(body).root, model=model).text


def keen_tags(body: bytes, url: str, *, keen: frozenset[str] = literal.UNIVERSAL) -> str:
    """Algorithm II of the thesis."""
    return literal.keen_tags(decode(body)[0], keen=keen).text


universal_tags: Extractor = partial(keen_tags, keen=UNIVERSAL)


def site_keen_tags(pages: Sequence[GivenPage]) -> Extractor:
    """Algorithm II with tags learnt of each page's site, from the other pages of it; the universal ones else."""
    by_domain: dict[str, list[GivenPage]] = {}
    for page in pages:
        by_domain.setdefault(page.domain, []).append(page)
    learnt: dict[str, frozenset[str]] = {}
    for page in pages:
        others = [other for other in by_domain[page.domain] if other is not page][:TAUGHT_BY]
        learnt[page.url] = learn_site_tags([KnownPage(decode(other.body)[0], other.text) for other in others])
    return lambda body, url: keen_tags(body, url, keen=learnt.get(url, UNIVERSAL))


def plain_text(body: bytes, url: str) -> str:
    """All text of the page: the floor."""
    root = read_page(body).root
    if root is None:
        return ""
    etree.strip_elements(root, "script", "style", "noscript", "template", "head", with_tail=False)
    return "\n".join(text for piece in root.itertext() if (text := str(piece).strip()))


def libraries() -> tuple[Mapping[str, Extractor], list[str]]:
    """The libraries that are installed, as their own benchmarks call them, and the names of those that are not."""
    found: dict[str, Extractor] = {}
    missing = []
    for name in ("newspaper", "readability", "trafilatura"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    for name, (modules, make) in _LIBRARIES.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[name] = make(*map(importlib.import_module, modules))
        except ImportError:
            missing.append(name)
    return found, missing


def _trafilatura(module: object) -> Extractor:
    return lambda body, url: module.extract(decode(body)[0], include_comments=False) or ""  # type: ignore[attr-defined]


def _readability(module: object) -> Extractor:
    def extract(body: bytes, url: str) -> str:
        return plain_text(module.Document(decode(body)[0]).summary().encode(), url)  # type: ignore[attr-defined]

    return extract


def _newspaper(module: object) -> Extractor:
    def extract(body: bytes, url: str) -> str:
        article = module.Article(url or "https://example.org/", fetch_images=False)  # type: ignore[attr-defined]
        article.download(input_html=decode(body)[0])
        article.parse()
        return str(article.text)

    return extract


def _justext(module: object) -> Extractor:
    stop_words = module.get_stoplist("English")  # type: ignore[attr-defined]

    def extract(body: bytes, url: str) -> str:
        paragraphs = module.justext(decode(body)[0], stop_words)  # type: ignore[attr-defined]
        return "\n".join(paragraph.text for paragraph in paragraphs if not paragraph.is_boilerplate)

    return extract


def _boilerpy(module: object) -> Extractor:
    extractor = module.ArticleExtractor(raise_on_failure=False)  # type: ignore[attr-defined]
    return lambda body, url: str(extractor.get_content(decode(body)[0]) or "")


_LIBRARIES: Mapping[str, tuple[tuple[str, ...], Callable[..., Extractor]]] = {
    "trafilatura": (("trafilatura",), _trafilatura),
    "readability": (("readability",), _readability),
    "newspaper4k": (("newspaper",), _newspaper),
    "justext": (("justext",), _justext),
    "boilerpy3": (("boilerpy3.extractors",), _boilerpy),
}
