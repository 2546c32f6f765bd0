"""Podcasts without a feed: the lines of a recipe lead from page to page to the recording.

Each line is evaluated on one page and yields the address of the next; the last line yields the recordings. A line is
an XPath or, if it is not one, a regular expression. With ` json|a|b` at its end, the match of the expression is parsed
as JSON, and the value at key a, then b, is the address. Pages are fetched elsewhere: `follow` names the next one.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from apps.sources.formats.expressions import BadExpression, check_xpath, regex, xpath
from apps.sources.formats.feed import Enclosure, Follow, NotAFeed, Page, ParsedEntry, ParsedFeed
from apps.sources.formats.feed_recipes import OF_CHANNEL, recording_type
from apps.sources.formats.items import NamedPath, Recipe, TreeReader, date_of, found_item, words_of
from apps.sources.formats.text import plain_text, web_address, with_absolute_addresses
from apps.sources.formats.trees import Tree, decoded, read_page_tree

MAX_PAGES = 6  # fetched for an episode
MAX_RECORDINGS = 100
_WALK = " json|"


def follow(pages: Sequence[Page], recipe: Recipe) -> Follow | ParsedFeed:
    """The next page to fetch or, after the last line, the episodes.

    `pages` are the pages fetched so far, the source's own first. Of the recipe, `more` has the lines; `title`,
    `description`, `date` and `image` are XPaths on the page with the recording. Raises NotAFeed with the line that
    finds nothing or leads back to an earlier page.

    >>> recipe = Recipe(more="//a[@class='latest']\\n//audio")
    >>> first = Page(b'<a class="latest" href="/7">Episode 7</a>', "text/html", "https://example.org/")
    >>> follow([first], recipe)
    Follow(url='https://example.org/7')
    >>> second = Page(b'<title>Tea</title><audio src="/7.mp3"></audio>', "text/html", "https://example.org/7")
    >>> [(entry.title, entry.enclosures[0].url) for entry in follow([first, second], recipe).entries]
    [('Tea', 'https://example.org/7.mp3')]
    """
    lines = lines_of(recipe.more)
    line, page = lines[len(pages) - 1], pages[-1]
    tree = read_page_tree(page.content, content_type=page.content_type, url=page.url)
    found: dict[str, str] = {}  # link texts by address
    for address, words in _linked(line, page, tree):
        found.setdefault(web_address(address.strip(), tree.base), words)
    found.pop("", None)
    if not found:
        raise NotAFeed(f"Line {len(pages)}, “{line}”, found no web address in {page.url}.")
    if len(pages) == len(lines):
        return _feed(pages, tree, found, recipe)
    following = next(iter(found))
    if following in {each.url for each in pages}:
        raise NotAFeed(f"Line {len(pages)}, “{line}”, leads back to {following}.")
    return Follow(following)


def lines_of(more: str) -> list[str]:
    """The lines that are not empty."""
    return [line.strip() for line in more.splitlines() if line.strip()]


def check_trail(more: str) -> None:
    """Raise BadExpression for too many lines, and for one that is neither an XPath nor a regular expression."""
    lines = lines_of(more)
    if len(lines) > MAX_PAGES:
        raise BadExpression(f"These are {len(lines)} lines; at most {MAX_PAGES} pages are fetched for an episode.")
    for number, line in enumerate(lines, 1):
        try:
            check_xpath(line)
        except BadExpression as no_xpath:
            try:
                regex(line.partition(_WALK)[0])
            except BadExpression as no_regex:
                raise BadExpression(f"Line {number}: {no_xpath} {no_regex}") from None


def _is_xpath(line: str) -> bool:
    try:
        xpath(line)
    except BadExpression:
        return False
    return True


def _linked(line: str, page: Page, tree: Tree) -> Iterator[tuple[str, str]]:
    """The addresses that a line finds on a page, with their link texts."""
    if _is_xpath(line):
        reader = TreeReader(is_json=False, is_html=tree.is_html, namespaces=tree.namespaces)
        for node in NamedPath("A line", line, xpath(line, tree.namespaces)).nodes(tree.root)[:MAX_RECORDINGS]:
            yield reader.address(node), "" if isinstance(node, str) else plain_text(words_of(node))
        return
    expression, _, keys = line.partition(_WALK)
    text = decoded(page.content, page.content_type)[0].decode("utf-8", "replace")
    compiled = regex(expression)
    for count, match in enumerate(compiled.finditer(text)):
        if count >= MAX_RECORDINGS:
            return
        matched = (match[1] or "") if compiled.groups else match[0]
        yield (_walked(matched, keys.split("|")) if keys else matched), ""


def _walked(text: str, keys: Sequence[str]) -> str:
    """The string at the keys of a JSON text; "" if there is none."""
    try:
        value = json.JSONDecoder().raw_decode(text.strip())[0]
        for key in keys:
            value = value[int(key)] if isinstance(value, list) else value[key]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
    return value if isinstance(value, str) else ""


def _feed(pages: Sequence[Page], tree: Tree, recordings: Mapping[str, str], recipe: Recipe) -> ParsedFeed:
    url = pages[-1].url
    is_one = len(recordings) == 1
    reader = TreeReader(is_json=False, is_html=tree.is_html, namespaces=tree.namespaces)
    names = ("title", "description", "date", "image") if is_one else ("title", "image")
    expressions = {name: getattr(recipe, name).strip().removeprefix(OF_CHANNEL) for name in names}
    paths = {name: reader.path(f"The {name}", expression) for name, expression in expressions.items() if expression}
    item = found_item(reader, paths, tree.root)
    title = plain_text(item.title) or tree.title
    entries = tuple(
        ParsedEntry(
            guid=address,
            link=url if is_one and len(pages) > 1 else address,
            title=title if is_one else words or _name(address),
            summary=with_absolute_addresses(item.description, tree.base),
            published=next(filter(None, map(date_of, item.dates)), None),
            image_url=web_address(item.image.strip(), tree.base),
            enclosures=(Enclosure(address, recording_type(address)),),
        )
        for address, words in recordings.items()
    )
    return ParsedFeed(
        kind="podcast pages",
        title=tree.title if len(pages) == 1 else "",
        link=pages[0].url,
        language=tree.language,
        entries=entries,
        problems=tree.problems,
    )


def _name(address: str) -> str:
    return address.partition("?")[0].rstrip("/").rpartition("/")[2]
