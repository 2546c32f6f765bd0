"""Interim."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from lxml import etree

from apps.postings.algorithms.extraction.keen import Extract
from apps.postings.algorithms.extraction.metadata import Metadata


@dataclass(frozen=True, slots=True)
class Verdict:
    kind: str
    probability: float
    reasons: tuple[str, ...]


def classify(root: etree._Element, extract: Extract, metadata: Metadata, url: str) -> Verdict:
    run = sum(extract.blocks[i].size for i in extract.run)
    headlines = {
        (a.get("href"), t)
        for a in root.iter("a")
        if 25 <= len(t := " ".join("".join(map(str, a.itertext())).split())) <= 180
    }
    path = urlsplit(url).path
    article = 1.5 * (run >= 600) + 2 * bool({"newsarticle", "article"} & metadata.types) + (metadata.og_type == "article")
    article += 0.5 * metadata.has_published_meta - 1.5 * (run < 350) - 2 * (path in ("", "/"))
    article -= 2 * (len(headlines) >= 6 and not metadata.has_published_meta)
    if article >= 1.5:
        return Verdict("news", 0.9, ("text",))
    if len(headlines) >= 5 or path in ("", "/"):
        return Verdict("index", 0.9, ("links",))
    return Verdict("valueless", 0.8, ("nothing",))
