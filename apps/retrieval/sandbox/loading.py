"""What a child process loads before it is confined, as it opens no file afterwards."""

import heapq as heapq  # Counter.most_common imports it
from xml.sax import expatreader as expatreader  # feedparser imports it by name

from apps.postings.algorithms.extraction.site_tags import train_site_tags as train_site_tags
from apps.retrieval.algorithms.icons import small_icon as small_icon
from apps.retrieval.algorithms.reading import read_site_page
from apps.sources import kinds
from apps.sources.algorithms.addresses import registrable_domain
from apps.sources.algorithms.icons import icons_of_page as icons_of_page

_SENTENCE = "The council of the town voted on Tuesday to keep the old bridge open to walkers. "
_ARTICLE = f"<title>Bridge</title><article><h1>Bridge</h1>{f'<p>{_SENTENCE * 4}</p>' * 8}</article>"


def functions() -> None:
    """Those imported above, with the kinds of sources, the public suffixes, and models of pages and languages."""
    kinds.all_kinds()
    registrable_domain("localhost.example")
    read_site_page(_ARTICLE.encode(), content_type="text/html", url="http://localhost/", wants_article=True)
