"""How far the feed parsers agree with feedparser on a folder of feeds, and that nothing but NotAFeed leaves them.

Where the two differ on purpose:

- of an element that the format allows once, we read the first and feedparser the last;
- a link is an http(s) address: we take it from the place of the content and from an RDF item's name too, but never
  make one of an identifier such as "foo";
- a day that does not exist, such as 2003-06-31, is no date, where feedparser goes on counting into the next month;
- of an item with a description and a summary we read the description, and no content of a type that no page can show;
- entries inside the <source> of an entry are not entries of the feed, nor is what RDF says of people a title;
- no title is repaired that was encoded twice, since capitals before a closing guillemet are encoded the same way;
- documents with links in Atom's namespace which are not feeds (maps, Atom services) are refused.
"""

import html
import io
import re
import time
from calendar import timegm
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import feedparser
from django.core.management.base import CommandParser
from rich.table import Table

from apps.sources.formats import parse
from apps.sources.formats.feed import NotAFeed, ParsedEntry, ParsedFeed
from apps.sources.formats.text import web_address
from lab.harness import LabCommand

FIELDS = ("feed_title", "feed_link", "entries", "title", "link", "guid", "date", "content")
ADDRESS = "http://feeds.example/feed.xml"  # of feeds that do not say theirs
_HEADER = re.compile(rb"^\s*Header:\s*([\w-]+)\s*:\s*(.*?)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Disagreement:
    file: str
    field: str
    ours: str
    theirs: str

    @property
    def reason(self) -> str:
        if not self.ours:
            return f"{self.field}: only feedparser has one"
        if not self.theirs:
            return f"{self.field}: only we have one"
        return f"{self.field}: another value"


@dataclass(slots=True)
class Evaluation:
    files: int = 0
    feeds: int = 0  # that our parsers read
    well_formed: int = 0  # feeds that feedparser reads without complaint
    agreeing: int = 0  # of those, the ones without any disagreement
    seconds: float = 0.0  # in our parsers
    exceptions: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)  # well-formed for feedparser, NotAFeed for us
    compared: Counter[str] = field(default_factory=Counter)
    agreed: Counter[str] = field(default_factory=Counter)
    disagreements: list[Disagreement] = field(default_factory=list)

    def add(self, file: Path) -> None:
        """Read the file with our parsers and with feedparser, and compare."""
        content = file.read_bytes()
        stated = {name.decode().lower(): value.decode("latin-1") for name, value in _HEADER.findall(content[:4096])}
        headers = {"content-type": "application/xml", "content-location": ADDRESS, **stated}
        url = web_address(headers["content-location"], ADDRESS)
        ours = self._parse(file, content, headers["content-type"], url)
        theirs = _read_by_feedparser(content, headers)
        if theirs is None:
            return
        self.well_formed += 1
        if ours is None:
            self.refused.append(str(file))
            return
        pairs = [pair for pair in _pairs(ours, theirs, url) if pair[1] or pair[2]]
        differing = [Disagreement(str(file), *pair) for pair in pairs if pair[1] != pair[2]]
        self.compared.update(name for name, _, _ in pairs)
        self.agreed.update(name for name, mine, other in pairs if mine == other)
        self.disagreements.extend(differing)
        self.agreeing += not differing

    def _parse(self, file: Path, content: bytes, content_type: str, url: str) -> ParsedFeed | None:
        self.files += 1
        start = time.perf_counter()
        try:
            feed = parse(content, content_type=content_type, url=url)
        except NotAFeed:
            return None
        except Exception as error:  # finding these is what the command is for
            self.exceptions.append(f"{file}: {error!r}")
            return None
        finally:
            self.seconds += time.perf_counter() - start
        self.feeds += 1
        return feed

    def share(self, name: str) -> float:
        return self.agreed[name] / self.compared[name] if self.compared[name] else 1.0

    def numbers(self) -> dict[str, float]:
        """The results as one flat object."""
        compared, agreed = self.compared.total(), self.agreed.total()
        return {
            "files": self.files,
            "exceptions": len(self.exceptions),
            "feeds": self.feeds,
            "wellformed": self.well_formed,
            "refused": len(self.refused),
            "agree_share": round(agreed / compared, 5) if compared else 1.0,
            "feeds_agree_share": round(self.agreeing / self.well_formed, 5) if self.well_formed else 1.0,
            **{f"{name}_share": round(self.share(name), 5) for name in FIELDS},
            "ms_per_file": round(1000 * self.seconds / max(1, self.files), 3),
        }


def _read_by_feedparser(content: bytes, headers: dict[str, str]) -> Any:
    """What feedparser reads, or None when it complains or sees no feed."""
    try:
        found = feedparser.parse(
            io.BytesIO(content), response_headers=headers, sanitize_html=False, resolve_relative_uris=False
        )
    except Exception:  # its own failures say nothing about ours
        return None
    return found if not found["bozo"] and found.get("version") else None


def _pairs(ours: ParsedFeed, theirs: Any, url: str) -> Iterator[tuple[str, str, str]]:
    """Field, our value and feedparser's, made comparable."""
    feed = theirs["feed"]
    yield "feed_title", _words(ours.title), _words(feed.get("title", ""))
    yield "feed_link", ours.link, web_address(feed.get("link", ""), url)
    yield "entries", str(len(ours.entries)), str(len(theirs["entries"]))
    for entry, other in zip(ours.entries, theirs["entries"], strict=False):
        yield "title", _words(entry.title), _words(other.get("title", ""))
        yield "link", _bare(entry.link), _link(entry, other, url)
        yield "guid", *_guids(entry, other, url)
        yield "date", *_dates(entry, other)
        yield "content", _words(entry.content or entry.summary), _words(_content(other))


def _words(markup: str) -> str:
    """The letters of a text, whether it came escaped, twice escaped or in elements."""
    for _ in range(2):
        markup = html.unescape(re.sub(r"<[^>]*>", "", markup))
    return "".join(re.sub(r"<[^>]*>", "", markup).split())


def _bare(address: str) -> str:
    return address.rstrip("?#")  # joining drops an empty query and fragment


def _link(entry: ParsedEntry, other: Any, url: str) -> str:
    """feedparser's link, unless it made it up from an identifier that is no address, such as "foo"."""
    theirs = web_address(other.get("link", ""), url)
    made_up = entry.guid and not web_address(entry.guid) and theirs == web_address(entry.guid, url)
    return "" if made_up and not entry.link else _bare(theirs)


def _guids(entry: ParsedEntry, other: Any, url: str) -> tuple[str, str]:
    """feedparser makes guids absolute; ours stay as they were given."""
    theirs = other.get("id", "")
    same = theirs and _bare(web_address(entry.guid, url)) == _bare(web_address(theirs, url))
    return (theirs if same else entry.guid), theirs


def _dates(entry: ParsedEntry, other: Any) -> tuple[str, str]:
    """The date of publication, or of the change: of a bare date formats and feedparser differ in which it is."""
    ours = entry.published or entry.updated
    names = ("published_parsed", "created_parsed", "updated_parsed")
    parts = next((parts for name in names if (parts := dict.get(other, name))), None)
    theirs = datetime.fromtimestamp(timegm(parts), UTC) if parts else None
    # Ours keeps the offset that the publisher wrote, which is the same time.
    return str(ours.astimezone(UTC) if ours else ""), str(theirs or "")


def _content(other: Any) -> str:
    values = [content.get("value", "") for content in other.get("content", ())]
    return next(filter(None, values), "") or other.get("summary", "")


class Command(LabCommand):
    help = "Read a folder of feeds with the project's parsers and with feedparser, and show where they differ."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--feeds", type=Path, required=True, help="folder with *.xml and *.json feeds, at any depth"
        )
        parser.add_argument("--list", action="store_true", help="print every disagreement")

    def measure(self, *, feeds: Path, list: bool, **options: Any) -> Mapping[str, float]:
        return run(feeds, self, show_all=list).numbers()


def run(folder: Path, command: LabCommand, *, show_all: bool) -> Evaluation:
    """Evaluate the folder's feeds, and print a table."""
    files = sorted(path for kind in ("*.xml", "*.json") for path in folder.rglob(kind))
    evaluation = Evaluation()
    for file in command.track(files, "Reading feeds"):
        evaluation.add(file)
    command.show(f"Feed parsers on {folder}", evaluation.numbers())
    console = command.console
    reasons = Table("Disagreement", "Times", title="Where the two readings differ")
    for reason, times in Counter(each.reason for each in evaluation.disagreements).most_common():
        reasons.add_row(reason, str(times))
    console.print(reasons)
    for line in (*evaluation.exceptions, *(f"refused: {path}" for path in evaluation.refused if show_all)):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    if show_all:
        for each in evaluation.disagreements:
            console.print(
                f"{each.file}\n  {each.reason}\n  ours   {each.ours[:200]!r}\n  theirs {each.theirs[:200]!r}",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )
    return evaluation
