"""A made-up news site without feeds, to be crawled: sections, lists of many pages, articles, duplicates and traps.

Every page is computed from its address, the seed and the number of published articles, so memory use is constant.
"""

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import escape
from urllib.parse import parse_qs, urlsplit

SECTIONS = (
    "world", "politics", "business", "science", "sport", "culture", "travel", "health", "opinion", "local",
)  # fmt: skip
PER_LIST = 20  # articles on one page of a list
ON_FRONT_PAGE = 30
PRIVATE_EVERY = 50  # every 50th article has a copy that robots.txt forbids
PRINTED_EVERY = 40  # every 40th article has a linked printed version
FIRST_DAY = datetime(2026, 1, 1, 6, tzinfo=UTC)
ROBOTS = "User-agent: *\nDisallow: /private/\nDisallow: /search\n"
_WORDS = (
    *("council", "market", "storm", "league", "budget", "river", "engine", "treaty", "museum", "harvest", "signal"),
    *("bridge", "school", "hospital", "election", "harbour", "railway", "forest", "winter", "minister", "factory"),
    *("teacher", "festival", "border", "energy", "prices", "workers", "village", "station", "victory", "inquiry"),
    *("report", "science", "history", "garden", "island", "water", "police", "court", "judge", "music", "painter"),
)
_VERBS = ("opens", "closes", "wins", "loses", "finds", "keeps", "leaves", "joins", "plans", "builds", "sells", "saves")


@dataclass(frozen=True, slots=True)
class SiteAnswer:
    status: int
    body: str = ""
    content_type: str = "text/html; charset=utf-8"
    location: str = ""


@dataclass(frozen=True)
class CrawledSite:
    """The site with its first `published` articles; article n is numbered from 0, the newest has the greatest number.

    >>> site = CrawledSite("http://site.example", published=100, seed=1)
    >>> site.answer(site.article_path(7)).status, site.answer("/nothing").status
    (200, 404)
    """

    base: str  # scheme, host and port
    published: int
    seed: int = 0
    begins: datetime = FIRST_DAY  # when the first article came out; another each 20 minutes

    def article_path(self, number: int) -> str:
        day = self.begins + timedelta(minutes=20 * number)
        slug = "-".join(self._title(number).lower().split())
        return f"/{self._section(number)}/{day:%Y/%m/%d}/{slug}-{100_000 + number}"

    def article_of(self, path: str) -> int | None:
        """The article that an address shows, whichever variant of it; None where it shows none."""
        last = urlsplit(path).path.rstrip("/").rpartition("-")[2]
        number = int(last) - 100_000 if last.isdecimal() and len(last) >= 6 else -1
        return number if 0 <= number < self.published else None

    def index_paths(self) -> set[str]:
        """The pages that show what is new."""
        return {"/", *(f"/{section}/" for section in SECTIONS)}

    def count_pages(self) -> int:
        """All pages but those of the traps, which have no end."""
        lists = sum(self._pages_of(section) for section in range(len(SECTIONS)))
        return 1 + lists + self.published + self.published // PRINTED_EVERY + self.published // PRIVATE_EVERY + 4

    def answer(self, target: str) -> SiteAnswer:
        """The response to a request for the path (with query) `target`."""
        parts = urlsplit(target)
        segments = [segment for segment in parts.path.split("/") if segment]
        match segments:
            case []:
                return self._front_page()
            case ["robots.txt"]:
                return SiteAnswer(200, ROBOTS, "text/plain")
            case ["about" | "imprint" | "login" | "subscribe" as name]:
                return self._small_page(name)
            case ["calendar", year, month] if year.isdecimal() and month.isdecimal():
                return self._calendar(int(year), int(month))
            case ["search"]:
                return self._list("Search", range(0, 10), f"/search?q={parse_qs(parts.query).get('q', [''])[0]}x")
            case ["print", _] | ["private", _]:
                return self._article(target, printed=segments[0] == "print")
            case [section] if section in SECTIONS:
                return self._section_page(section, 1)
            case [section, "page", number] if section in SECTIONS and number.isdecimal():
                return self._section_page(section, int(number))
            case [section, *_] if section in SECTIONS:
                return self._article(target, printed=False)
        return SiteAnswer(404, "<title>Not found</title><h1>There is no such page</h1>")

    def _section(self, number: int) -> str:
        return SECTIONS[number % len(SECTIONS)]

    def _numbers_of(self, section: int) -> range:
        """The section's articles, the newest first."""
        first = section
        count = max(0, (self.published - first + len(SECTIONS) - 1) // len(SECTIONS))
        return range(first, first + count * len(SECTIONS), len(SECTIONS))[::-1]

    def _pages_of(self, section: int) -> int:
        return max(1, -(-len(self._numbers_of(section)) // PER_LIST))

    def _random(self, number: int) -> random.Random:
        return random.Random(self.seed * 10_000_019 + number)

    def _title(self, number: int) -> str:
        chosen = self._random(number)
        words = chosen.sample(_WORDS, 4)
        return f"{words[0].title()} {chosen.choice(_VERBS)} {words[1]} and {words[2]} {words[3]}"

    def _link(self, number: int, *, where: str) -> str:
        """A link in one of the variants that sites make of one address."""
        path = self.article_path(number)
        variant = self._random(number + len(where)).randrange(4)
        path += ("", "/", f"?utm_source={where}&utm_medium=web", "?PHPSESSID=" + "0123456789abcdef" * 2)[variant]
        return f'<a href="{escape(path)}">{escape(self._title(number))}</a>'

    def _front_page(self) -> SiteAnswer:
        newest = range(self.published - 1, max(-1, self.published - 1 - ON_FRONT_PAGE), -1)
        items = "".join(f"<li><h3>{self._link(number, where='front')}</h3></li>" for number in newest)
        return self._page("The Made-up Times", f"<h1>The Made-up Times</h1><ul class='top'>{items}</ul>")

    def _section_page(self, section: str, page: int) -> SiteAnswer:
        numbers = self._numbers_of(SECTIONS.index(section))
        shown = numbers[(page - 1) * PER_LIST : page * PER_LIST]
        if not shown and page > 1:
            return SiteAnswer(404, "<title>Not found</title><h1>There is no such page</h1>")
        further = f"/{section}/page/{page + 1}" if page * PER_LIST < len(numbers) else ""
        return self._list(section.title(), shown, further)

    def _list(self, title: str, numbers: range, further: str) -> SiteAnswer:
        items = "".join(self._item(number) for number in numbers if number < self.published)
        more = f'<a rel="next" href="{escape(further)}">Older news</a>' if further else ""
        return self._page(title, f"<h1>{title}</h1><div class='list'>{items}</div><p>{more}</p>")

    def _item(self, number: int) -> str:
        extra = ""
        if number % PRINTED_EVERY == 0:
            extra += f' <a href="/print/{number + 100_000:d}-{number + 100_000}">Read it as it was printed on paper</a>'
        if number % PRIVATE_EVERY == 0:
            extra += f' <a href="/private/copy-{number + 100_000}">Internal copy of this article for editors</a>'
        headline = f"<h3>{self._link(number, where='list')}</h3>"
        return f"<div class='teaser'>{headline}<p>{self._words(number, 12)}</p>{extra}</div>"

    def _article(self, target: str, *, printed: bool) -> SiteAnswer:
        number = self.article_of(target)
        if number is None:
            return SiteAnswer(404, "<title>Not found</title><h1>There is no such page</h1>")
        published = self.begins + timedelta(minutes=20 * number)
        title, address = escape(self._title(number)), self.base + self.article_path(number)
        paragraphs = "".join(f"<p>{self._words(number * 100 + part, 60)}</p>" for part in range(5))
        head = (
            f'<link rel="canonical" href="{address}"><meta property="og:type" content="article">'
            f'<meta property="og:title" content="{title}">'
            f'<meta property="article:published_time" content="{published.isoformat()}">'
        )
        related = "".join(f"<li>{self._link(each, where='related')}</li>" for each in range(max(0, number - 3), number))
        body = f"<article><h1>{title}</h1><p class='byline'>By Ada Writer</p>{paragraphs}</article>"
        if not printed:
            body += f"<aside class='related'><h4>More</h4><ul>{related}</ul></aside>"
        return self._page(title, body, head=head)

    def _words(self, seed: int, count: int) -> str:
        chosen = self._random(seed)
        sentences = []
        while count > 0:
            length = min(count, chosen.randint(8, 16))
            words = chosen.choices(_WORDS, k=length)
            sentences.append(" ".join(["The", *words]) + (", it was said on Monday." if length > 12 else "."))
            count -= length
        return " ".join(sentences)

    def _small_page(self, name: str) -> SiteAnswer:
        return self._page(name.title(), f"<h1>{name.title()}</h1><form action='/{name}'><input name='q'></form>")

    def _calendar(self, year: int, month: int) -> SiteAnswer:
        """A trap: every month leads to the next one, forever."""
        later, earlier = (year + month // 12, month % 12 + 1), (year - (month == 1), (month - 2) % 12 + 1)
        links = "".join(f'<a href="/calendar/{y}/{m:02d}">Events of month {m} of {y}</a> ' for y, m in (earlier, later))
        days = "".join(f'<a href="/calendar/{year}/{month:02d}/?day={day}">{day}</a> ' for day in range(1, 29))
        return self._page(f"Calendar {year}-{month:02d}", f"<h1>Events</h1><p>{links}</p><p>{days}</p>")

    def _page(self, title: str, body: str, *, head: str = "") -> SiteAnswer:
        sections = "".join(f'<li><a href="/{section}/">{section.title()}</a></li>' for section in SECTIONS)
        return SiteAnswer(
            200,
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title} | The Made-up Times</title>'
            f"{head}</head><body><header><nav><ul>{sections}</ul></nav></header><main>{body}</main><footer><ul>"
            '<li><a href="/about">About us</a></li><li><a href="/imprint">Imprint</a></li><li><a href="/login">Log in'
            '</a></li><li><a href="/calendar/2026/11">What is on: calendar of events</a></li>'
            '<li><a href="/search?q=news">Search all of our news</a></li>'
            "</ul><p>© The Made-up Times</p></footer></body></html>",
        )
