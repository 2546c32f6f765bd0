"""Kinds of sources, each a module of this package that defines `KIND`, a `SourceKind`.

The module's name is what `Source.kind` stores; being in this package is all that registers it. A kind says which paths
its recipe has, how its documents are read, and how retrieval treats it. It is pure and its documents may be hostile:
its functions run in a confined child process, unless it is a feed without a recipe.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from apps.database.registry import entries, gettext_noop
from apps.sources.formats.expressions import BadExpression, check_xpath
from apps.sources.formats.feed import Follow, NotAFeed, Page, ParsedFeed
from apps.sources.formats.feed_recipes import OF_CHANNEL
from apps.sources.formats.items import is_address
from apps.sources.formats.podcast_pages import check_trail
from apps.sources.formats.proposals import Proposal, likeliest, plain_letters
from apps.sources.formats.recipes import Recipe
from apps.sources.formats.text import web_address

DEFAULT = "feed"
INDEX = "index"  # index pages of crawled sites, which the crawl adds by itself
SITE = "site"
MIN_OFFERED = 3  # items that a recipe without an example has to find
PROPOSED = "xpath"  # whose paths are proposed where the kind cannot propose any

Reader = Callable[[Sequence[Page], Recipe], ParsedFeed | Follow]


def _read_nothing(pages: Sequence[Page], recipe: Recipe) -> ParsedFeed:
    raise NotAFeed("This portal has no module that reads sources of this kind.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceKind:
    """The interface of a module: what varies between kinds of sources."""

    label: str  # for people, marked with `gettext_noop`
    help: str = ""  # about its paths, in HTML, marked too
    fields: tuple[str, ...] = ()  # the paths that its recipe may have
    required: tuple[str, ...] = ()
    check: Callable[[str], object] = check_xpath  # raises BadExpression if a path cannot be used
    strips: bool = True  # white space around a path means nothing
    read: Reader = _read_nothing  # the pages fetched so far, the source's own first; raises NotAFeed
    propose: Callable[[Page, str], Iterable[Proposal]] | None = None  # recipes that find a title in plain letters
    examples: Callable[[Page], Iterable[str]] | None = None  # titles that a document probably lists
    is_feed: bool = False  # the servers of feeds know validators
    is_crawled: bool = False  # its items are links to pages: retrieval follows them, and `read` is not called
    is_page: bool = False  # it may be planned by its weekly timetable, as CAM plans web pages
    is_retrieved: bool = True  # checked by the schedule; otherwise its postings are delivered
    is_offered: bool = True  # a person may choose it
    name: str = ""  # the module's

    def own(self, recipe: Recipe) -> Recipe:
        """The recipe without the paths that sources of this kind do not have."""
        given = {name: getattr(recipe, name) for name in self.fields}
        return Recipe(**{name: text.strip() if self.strips else text for name, text in given.items()})

    def problems(self, recipe: Recipe) -> dict[str, str]:
        """The error of each path that cannot be used.

        >>> kind_of("xpath").problems(Recipe(item="//li[", title=".", link="."))
        {'item': 'It is not an XPath: invalid expression at character 5, after “//li[”.'}
        """
        wrong = {name: "This field is required." for name in self.required if not getattr(recipe, name).strip()}
        for name, expression in self.own(recipe).to_json().items():
            try:
                self._check(name, expression)
            except BadExpression as error:
                wrong[name] = str(error)
        return wrong

    def _check(self, name: str, expression: str) -> None:
        if name == "more":
            check_trail(expression)
        elif name == "link" and is_address(expression):
            if not web_address(expression):
                raise BadExpression("This is not a web address.")
        else:
            self.check(expression.removeprefix(OF_CHANNEL) if name == "image" else expression)


@cache
def all_kinds() -> Mapping[str, SourceKind]:
    """The kinds by their names; feeds come first."""
    found = {name: replace(kind, name=name) for name, kind in entries(__name__, "KIND", group="wirebeat.source_kinds")}
    return {DEFAULT: found[DEFAULT]} | found


def kind_of(name: str) -> SourceKind:
    """The kind of this name; one that reads nothing if its module was removed."""
    return all_kinds().get(name) or SourceKind(label=name, name=name)


def delivered() -> list[str]:
    """The kinds that are never checked."""
    return [kind.name for kind in all_kinds().values() if not kind.is_retrieved]


def proposing(name: str) -> SourceKind:
    """The kind whose paths are proposed for sources of the kind `name`: another one if it cannot propose any."""
    kind = kind_of(name)
    return kind if kind.propose else kind_of(PROPOSED)


def read(name: str, pages: Sequence[Page], recipe: Recipe) -> ParsedFeed | Follow:
    """The items of a source of the kind `name`, or the page to fetch next.

    Raises NotAFeed, and nothing else, with the path that found nothing.

    >>> page = Page(b'<ul><li><a href="/tea">First flush</a></ul>', "text/html", "https://example.org/")
    >>> feed = read("xpath", [page], Recipe(item="//li", title=".//a", link=".//a"))
    >>> [(entry.title, entry.link) for entry in feed.entries]
    [('First flush', 'https://example.org/tea')]
    """
    kind = kind_of(name)
    for field, message in kind.problems(recipe).items():
        raise NotAFeed(f"The recipe of the source cannot be used. {field.capitalize()}: {message}")
    return kind.read(pages, kind.own(recipe))


def propose(name: str, page: Page, example_title: str) -> list[Proposal]:
    """Recipes that find the item with this title in a page and others like it, the likeliest first; at most eight.

    Raises NotAFeed if the page cannot be read.

    >>> html = b'<ul class="news"><li><a href="/1">One tea</a><li><a href="/2">Two teas</a></ul>'
    >>> propose("xpath", Page(html, "text/html", "https://example.org/"), "Two teas")[0].titles
    ('One tea', 'Two teas')
    """
    wanted, function = plain_letters(example_title), proposing(name).propose
    return likeliest(function(page, wanted)) if wanted and function else []


def offer(name: str, page: Page) -> list[Proposal]:
    """The likeliest recipe for a document of which no title is known, or nothing. What it finds can be read.

    >>> rows = "".join(f'<li><a href="/{n}">The river has left its bed {n}</a>' for n in range(4))
    >>> [found] = offer("xpath", Page(f"<ul>{rows}</ul>".encode(), "text/html", "https://example.org/"))
    >>> found.items, found.titles[0]
    (4, 'The river has left its bed 0')
    """
    kind = kind_of(name)
    if not kind.propose or not kind.examples:
        return []
    try:
        examples = [plain_letters(title) for title in kind.examples(page)]
        found = likeliest(each for title in examples for each in kind.propose(page, title))
        found = [each for each in found if each.recipe.link and each.items >= MIN_OFFERED][:1]
        for each in found:
            kind.read([page], kind.own(each.recipe))
    except NotAFeed:
        return []
    return found
