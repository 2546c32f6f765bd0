"""Resolve a query into a condition on documents: words to term numbers, filters to what they select for a user."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from urllib.parse import urlsplit

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from apps.accounts.models import User
from apps.database.statements import MAX_ID, fetch
from apps.following import queries as following
from apps.following.models import Mark
from apps.following.queries.states import read_elsewhere
from apps.postings.algorithms.times import microseconds
from apps.postings.algorithms.words import STOP_MARK, analyse
from apps.search.algorithms.index.conditions import (
    All,
    Any,
    Condition,
    Languages,
    Named,
    New,
    Not,
    Postings,
    Published,
    Sources,
    Stands,
)
from apps.search.algorithms.index.reading import Named as NamedThing
from apps.search.algorithms.index.reading import name_word
from apps.search.algorithms.language import And, Filter, Or, Phrase, Tree, Word, leaves, moment, names_match, texts
from apps.search.algorithms.language import Not as Without
from apps.search.algorithms.language.matching import name_words
from apps.search.algorithms.models.index import UNKNOWN
from apps.search.queries import terms
from apps.search.queries.analysis import OWN
from apps.sources.models import Source

NEVER = Any()
MAX_COMPLETIONS = 500  # terms with the same beginning
MAX_QUERY_COMPLETIONS = 2_000  # of all filters of a query together


def condition_of(tree: Tree, user: User | AnonymousUser, *, languages: Sequence[str], now: datetime) -> Condition:
    """The condition on documents that the user may see, for a query or its `conditions` in an order by relevance.

    A word matches if it matches as analysed in one of the languages; a stop word of the first two sets no condition.
    `now` is in the user's time zone. A dozen statements at most.
    """
    resolver = _Resolver(user, languages, now)
    resolver.learn(tree)
    matching, seen = resolver.condition(tree), resolver.visible()
    return seen if matching is None else All((seen, matching))


@dataclass
class _Resolver:
    user: User | AnonymousUser
    languages: Sequence[str]
    now: datetime
    numbers: dict[str, int] = field(default_factory=dict)  # of known terms
    completions: dict[str, tuple[int, ...]] = field(default_factory=dict)  # of words of names
    _states: dict[str, Condition] = field(default_factory=dict)

    def learn(self, tree: Tree) -> None:
        """Resolve all words and names of the query at once."""
        items = {item for text in texts(tree) for variant in self._variants(text) for item in variant}
        names = [words for kind, value in _names(tree) if (words := _name_items(kind, value))]
        items.update(item for words in names for item in words[:-1])
        self.numbers = {term: known.number for term, known in terms.counted(items).items()}
        self.completions = _completions(sorted({words[-1] for words in names}))

    def condition(self, tree: Tree) -> Condition | None:
        """None where the query sets no condition, as with stop words alone."""
        match tree:
            case Word(text):
                variants = self._variants(text)
                if any(all(item.startswith(STOP_MARK) for item in variant) for variant in variants[:OWN]):
                    return None
                return self._stands(variants)
            case Phrase(text):
                variants = [variant for variant in self._variants(text) if variant]
                return self._stands(variants) if variants else None
            case Filter():
                return self._any([self._filter(tree, value) for value in tree.values])
            case Without(part):
                found = self.condition(part)
                return None if found is None else Not(found)
            case And(parts):
                conditions = tuple(found for part in parts if (found := self.condition(part)) is not None)
                return All(conditions) if conditions else None
            case Or(parts):
                return self._any([self.condition(part) for part in parts])

    def visible(self) -> Condition:
        """What the user may open: listed and followed sources, and starred postings of others."""
        seen = following.visible_source_ids(self.user)
        if not self.user.is_authenticated:
            return Sources(seen)
        elsewhere = following.starred_elsewhere(self.user, seen)
        return Any((Sources(seen), Postings(elsewhere))) if elsewhere else Sources(seen)

    def _variants(self, text: str) -> list[tuple[str, ...]]:
        return [tuple(analyse(text, language).sequence) for language in self.languages]

    def _stands(self, variants: Sequence[tuple[str, ...]], *, in_title: bool = False) -> Condition:
        found = []
        for variant in dict.fromkeys(variants):
            numbers = [self.numbers.get(item, UNKNOWN) for item in variant]
            if variant and 0 not in numbers:
                signed = [-n if item[0] == STOP_MARK else n for n, item in zip(numbers, variant, strict=True)]
                found.append(Stands(tuple(signed), in_title))
        return found[0] if len(found) == 1 else Any(tuple(found))

    def _any(self, parts: Sequence[Condition | None]) -> Condition | None:
        found = tuple(part for part in parts if part is not None)
        return found[0] if len(found) == 1 else Any(found) if found else None

    def _filter(self, condition: Filter, value: str) -> Condition | None:
        match condition.field:
            case "source":
                return self._source(value)
            case "folder":
                return Sources(self._filed(value))
            case "category":
                by_source = frozenset(id for id, category in self._categories if names_match(value, category))
                return Any((Sources(by_source), self._named("category", value)))
            case "author":
                return self._named("author", value)
            case "lang":
                return Languages(frozenset({value}))
            case "intitle":
                variants = [variant for variant in self._variants(value) if variant]
                return self._stands(variants, in_title=True) if variants else None
            case "before":
                return Published(until=microseconds(moment(value, self.now)))
            case "after":
                return Published(since=microseconds(moment(value, self.now)))
            case "is":
                return self._state(value)

    def _source(self, value: str) -> Condition:
        if value.isascii() and value.isdecimal():
            return Sources(frozenset({int(value)})) if int(value) <= MAX_ID else NEVER
        named = {
            id
            for id, title, host in self._sources
            if names_match(value, title) or names_match(value, host) or names_match(value, self._own_titles.get(id, ""))
        }
        return Sources(frozenset(named))

    def _filed(self, value: str) -> frozenset[int]:
        """The sources in the user's folders of this number or name, and inside of them."""
        if not self.user.is_authenticated:
            return frozenset()
        folders = list(following.folders_of(self.user))
        is_number = value.isascii() and value.isdecimal()
        inside: set[int] = set()
        for folder in folders:
            if folder.pk == int(value) if is_number else names_match(value, folder.name):
                inside |= following.with_descendants(folders, folder.pk)
        return frozenset(id for id, among in self._folders.items() if not inside.isdisjoint(among))

    @cached_property
    def _folders(self) -> dict[int, list[int]]:
        return following.folders_by_source(self.user) if isinstance(self.user, User) else {}

    def _named(self, kind: NamedThing, value: str) -> Condition:
        items = _name_items(kind, value)
        if not items:
            return NEVER
        numbers = tuple(self.numbers.get(item, UNKNOWN) for item in items[:-1])
        return NEVER if 0 in numbers else Named(numbers, self.completions.get(items[-1], ()))

    @cached_property
    def _sources(self) -> list[tuple[int, str, str]]:
        """Id, title and host of each source visible to the user."""
        rows = following.visible_sources(self.user).values_list("pk", "title", "url", named=True)
        return [(row.pk, row.title, host_of(row.url)) for row in rows]

    @cached_property
    def _own_titles(self) -> dict[int, str]:
        if not self.user.is_authenticated:
            return {}
        return dict(following.follows_of(self.user).exclude(title="").values_list("source_id", "title"))

    @cached_property
    def _categories(self) -> list[tuple[int, str]]:
        return list(Source.objects.exclude(category="").values_list("pk", "category"))

    @property
    def _stars(self) -> QuerySet[Mark]:
        return following.stars_of(self.user) if self.user.is_authenticated else Mark.objects.none()

    def _state(self, state: str) -> Condition:
        if not self.user.is_authenticated:
            return NEVER
        if state not in self._states:
            states: dict[str, Callable[[User], Condition]] = {
                "unread": _unread,
                "starred": lambda _: Postings(frozenset(self._stars.values_list("posting_id", flat=True))),
                "followed": _followed,
            }
            self._states[state] = states[state](self.user)
        return self._states[state]


def _unread(user: User) -> Condition:
    """Unread as defined by `Follow`, and without copies of what was read."""
    follows = list(following.follows_of(user).only("source_id", "unread_from", "read_through"))
    new = New(tuple((each.source_id, microseconds(each.unread_from), each.read_through) for each in follows))
    lowest = min((each.read_through for each in follows), default=0)  # below it postings are read without a mark
    marks = Mark.objects.filter(Q(read=False) | Q(read=True, posting_id__gt=lowest), user=user)
    marked: dict[bool | None, set[int]] = {True: set(), False: set()}
    for posting_id, is_read in marks.values_list("posting_id", "read"):
        marked[is_read].add(posting_id)
    elsewhere = frozenset(read_elsewhere(user))
    kept, read = frozenset(marked[False] - elsewhere), frozenset(marked[True] | elsewhere)
    return Any((Postings(kept), All((new, Not(Postings(read))))))


def _followed(user: User) -> Condition:
    return Sources(frozenset(following.follows_of(user).values_list("source_id", flat=True)))


def host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:  # not every address is a valid URL
        return ""


def _name_items(kind: NamedThing, value: str) -> list[str]:
    return [name_word(kind, word) for word in name_words(value)]


# The most frequent words of each beginning.
_COMPLETIONS = """
SELECT beginning, id FROM unnest(%s::text[]) beginning, LATERAL (
    SELECT id FROM search_term WHERE term >= beginning COLLATE "C" AND term < (beginning || %s) COLLATE "C"
    ORDER BY document_frequency DESC, id LIMIT %s
) completion
"""


def _completions(beginnings: Sequence[str]) -> dict[str, tuple[int, ...]]:
    if not beginnings:
        return {}
    each = min(MAX_COMPLETIONS, MAX_QUERY_COMPLETIONS // len(beginnings))
    found: dict[str, list[int]] = {}
    for beginning, number in fetch(_COMPLETIONS, [list(beginnings), "\U0010ffff", each]):
        found.setdefault(beginning, []).append(number)
    return {beginning: tuple(numbers) for beginning, numbers in found.items()}


def _names(tree: Tree) -> Iterator[tuple[NamedThing, str]]:
    for leaf in leaves(tree):
        match leaf:
            case Filter(field="category" | "author" as kind, values=values):
                for value in values:
                    yield kind, value
