"""Which reader an XML document is for."""

from lxml import etree

from apps.sources.formats.atom import read_atom
from apps.sources.formats.documents import Document, canonical_name
from apps.sources.formats.feed import ParsedFeed
from apps.sources.formats.rss import read_rss


def read_feed_element(document: Document) -> ParsedFeed | None:
    """The feed that the document's root holds, or None when it is of another kind."""
    root = document.root
    if root is None:
        return None
    if canonical_name(root.tag).endswith((":rss", ":feed")):
        _leave_namespace(root)
    match canonical_name(root.tag):
        case "rdf:rdf" | "rdf":
            # RDF describes many things; feeds are those that declare a namespace of RSS.
            is_feed = any(canonical_name(f"{{{namespace}}}item") == "item" for namespace in root.nsmap.values())
            return read_rss(document, root, "rdf") if is_feed else None
        case "rss":
            return read_rss(document, root, "rss")
        case "feed" | "entry":
            return read_atom(document, root)
        case _:
            return None


def _leave_namespace(root: etree._Element) -> None:
    """Publishers make up namespaces for the format itself; its elements are then those in the root's namespace."""
    namespace = root.tag.rpartition("}")[0]
    for element in root.iter(namespace + "}*"):
        element.tag = element.tag.rpartition("}")[2]
