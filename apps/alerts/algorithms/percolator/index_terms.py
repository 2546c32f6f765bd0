"""Index terms of a query: rows by which new postings find it."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from apps.alerts.algorithms.percolator import documents
from apps.alerts.algorithms.percolator.documents import FOLDER, LANGUAGE, SOURCE, TITLE
from apps.alerts.algorithms.percolator.languages import ENGLISH, EVERY, GROUPS
from apps.database.registry import gettext_noop
from apps.postings.algorithms.words import STOP_MARK, sequence
from apps.search.algorithms.language import And, Filter, Not, Or, Phrase, Tree, Word, leaves, texts
from apps.search.algorithms.language.matching import name_words

MAX_DISJUNCTS = 8  # per conjunction of alternatives, multiplied out

Read = Callable[[str], Sequence[str]]  # words to their items

_NAMED = {"source": documents.SOURCE, "category": documents.CATEGORY, "author": documents.AUTHOR}


class Disjunct(NamedTuple):
    terms: frozenset[str]  # all required
    exact: bool  # they suffice for a match


_OPEN = Disjunct(frozenset(), False)


def disjuncts(tree: Tree, *, read: Read, languages: Sequence[str]) -> list[Disjunct] | None:
    """The disjuncts of a query in one group of languages; None where it sets no condition.

    A matching posting has the terms of one disjunct at least. A disjunct without terms admits every posting. `read`
    returns the items of words by the rules of that group.

    >>> from apps.search.algorithms.language import parse
    >>> def found(query):
    ...     ways_of = disjuncts(parse(query), read=str.split, languages=["en"])
    ...     return [(sorted(way.terms), way.exact) for way in ways_of]
    >>> found("climate (vote OR strike)")
    [(['climate', 'vote'], True), (['climate', 'strike'], True)]
    >>> found('"new york" -source:wire'), found("-paris")
    ([(['new york'], False)], [([], False)])
    """
    match tree:
        case Word(text):
            items = read(text)
            return None if all(item.startswith(STOP_MARK) for item in items) else [_conjunction(items)]
        case Phrase(text):
            items = read(text)
            return [_conjunction(items)] if items else None
        case Filter():
            return _either(_filtered(tree, value, read, languages) for value in tree.values)
        case Not(part):
            return None if disjuncts(part, read=read, languages=languages) is None else [_OPEN]
        case And(parts):
            found = [disjuncts(part, read=read, languages=languages) for part in parts]
            known = [clause for clause in found if clause is not None]
            return _all(known) if known else None
        case Or(parts):
            return _either(disjuncts(part, read=read, languages=languages) for part in parts)


def is_open(found: Sequence[Disjunct] | None) -> bool:
    """Whether matching postings need no common term."""
    return found is None or any(not way.terms for way in found)


def _conjunction(items: Sequence[str], mark: str = "") -> Disjunct:
    return Disjunct(frozenset(mark + pair for pair in documents.pairs_of(items)), exact=len(items) <= 2)


def _filtered(condition: Filter, value: str, read: Read, languages: Sequence[str]) -> list[Disjunct] | None:
    match condition.field:
        case "source" if value.isascii() and value.isdecimal():
            return [Disjunct(frozenset({f"{documents.NUMBER}{int(value)}"}), exact=True)]
        case "folder" if value.isascii() and value.isdecimal():
            return [Disjunct(frozenset({f"{documents.FOLDER}{int(value)}"}), exact=False)]
        case "source" | "category" | "author" as field:
            words = name_words(value)
            terms = frozenset(_NAMED[field] + word[: documents.MAX_BEGINNING_LENGTH] for word in words)
            return [Disjunct(terms, exact=False)] if terms else []
        case "lang":
            return [Disjunct(frozenset({documents.LANGUAGE + value}), exact=True)] if value in languages else []
        case "intitle":
            items = read(value)
            return [_conjunction(items, documents.TITLE)] if items else None
        case "before" | "after" | "is" | "folder":
            return [_OPEN]


def _either(clauses: Iterable[list[Disjunct] | None]) -> list[Disjunct] | None:
    known = [clause for clause in clauses if clause is not None]
    return _once(way for clause in known for way in clause) if known else None


def _all(clauses: Sequence[list[Disjunct]]) -> list[Disjunct]:
    """Multiply out conjunctions up to a size; clauses left out make the rest inexact, or replace it."""
    best, left = [Disjunct(frozenset(), True)], []
    for clause in sorted(clauses, key=len):
        if len(best) * len(clause) <= MAX_DISJUNCTS:
            best = _both(best, clause)
        else:
            left.append(clause)
    if not left:
        return _once(best)
    common = [Disjunct(frozenset.intersection(*(way.terms for way in best)), False)]
    choices = [[Disjunct(way.terms, False) for way in best], *(_both(common, clause) for clause in left)]
    return _once(next(choice for choice in choices if _is_selective(choice) or choice is choices[-1]))


def _is_selective(choice: Sequence[Disjunct]) -> bool:
    """Whether each disjunct has a term other than a language."""
    return all(any(not term.startswith(documents.LANGUAGE) for term in way.terms) for way in choice)


def _both(some: Sequence[Disjunct], others: Sequence[Disjunct]) -> list[Disjunct]:
    return [Disjunct(one.terms | other.terms, one.exact and other.exact) for one in some for other in others]


def _once(found: Iterable[Disjunct]) -> list[Disjunct]:
    exact: dict[frozenset[str], bool] = {}
    for way in found:
        exact[way.terms] = exact.get(way.terms, False) or way.exact
    return [Disjunct(*item) for item in exact.items()]


MAX_BESIDE = 6  # terms beside the rarest one
NOTHING_TO_WAIT_FOR = gettext_noop(
    "This search is too broad to watch for new articles: each side of an OR needs a word, a "
    "phrase, a feed or the like; dates, exclusions and very common words such as “the” are not "
    "enough."
)
NEVER = gettext_noop("No article can ever match this search: one of its names has no letters or digits.")

_CACHED_WORDS = 50_000  # of queries, in all groups of languages, 40 MB


class IndexTerm(NamedTuple):
    """A posting in one of the languages (a bit for each of GROUPS) with all these terms is a candidate.

    If it is exact, the posting matches.
    """

    term: str
    beside: tuple[str, ...]
    languages: int
    exact: bool


class NoIndexTerm(ValueError):
    """A query that cannot be percolated; the message is for its author."""


class Plan:
    """The disjuncts of a query in each language; raises `NoIndexTerm` if it matches too much or nothing.

    The words of a query are analysed by the language of the posting. Languages that agree on all of its words share
    their rows. Where only stop words are left of a query in a language other than English, it has no row for it:
    postings of that language are no candidates.

    >>> from apps.search.algorithms.language import parse
    >>> found = Plan(parse("paris elections -hilton lang:en")).index_terms(len)
    >>> [(row.term, row.beside, row.exact) for row in found]
    [('pari', ('elect', 'lang:en'), False)]
    """

    def __init__(self, tree: Tree) -> None:
        found = _readings(tree)
        open_in = sum(mask for mask, each in found if is_open(each))
        if open_in & 1 << ENGLISH or open_in == EVERY:
            raise NoIndexTerm(NOTHING_TO_WAIT_FOR)
        self._languages: dict[Disjunct, int] = {}
        for mask, each in found:
            for way in each if each and not mask & open_in else ():
                self._languages[way] = self._languages.get(way, 0) | mask
        if not self._languages:
            raise NoIndexTerm(NEVER)

    def terms(self) -> set[str]:
        """The terms whose frequencies `index_terms` needs."""
        return {term for way in self._languages for term in way.terms if len(way.terms) > 1}

    def index_terms(self, frequency: Callable[[str], float]) -> list[IndexTerm]:
        """One row per disjunct, under its rarest term; `frequency` returns the document frequency of a term."""
        found = []
        for way, languages in self._languages.items():
            term, *others = sorted(way.terms, key=lambda term: (frequency(term), term))
            found.append(
                IndexTerm(term, tuple(others[:MAX_BESIDE]), languages, way.exact and len(others) <= MAX_BESIDE)
            )
        return found


def _readings(tree: Tree) -> list[tuple[int, list[Disjunct] | None]]:
    """The disjuncts of the query, with a bit mask of the languages that share them."""
    named = list(dict.fromkeys(texts(tree)))
    variants = list(zip(*map(_variants, named), strict=True)) or [()] * len(GROUPS)
    names_language = any(isinstance(leaf, Filter) and leaf.field == "lang" for leaf in leaves(tree))
    own = range(len(GROUPS)) if names_language else [0] * len(GROUPS)  # not to be shared
    alike: dict[tuple[int, tuple[tuple[str, ...], ...]], list[int]] = {}
    for number, key in enumerate(zip(own, variants, strict=True)):
        alike.setdefault(key, []).append(number)
    found = []
    for (_, items), numbers in alike.items():
        read = dict(zip(named, items, strict=True)).__getitem__
        found.append((sum(1 << number for number in numbers), disjuncts(tree, read=read, languages=GROUPS[numbers[0]])))
    return found


@lru_cache(_CACHED_WORDS)
def _variants(text: str) -> tuple[tuple[str, ...], ...]:
    """The items of a text in each group of languages, equal tuples shared."""
    kept: dict[tuple[str, ...], tuple[str, ...]] = {}
    found = (tuple(sequence(text, group[0])) for group in GROUPS)
    return tuple(kept.setdefault(items, items) for items in found)


# --- rarity of terms --------------------------------------------------------------------------------------------------
EVERYWHERE = 1e12  # more than there are postings
STOP_WORD = 1e9  # unless its frequency is known
TOGETHER = 20.0  # postings with the rarer of two words per posting with both as neighbours
IN_TITLE = 5.0  # postings with a word per posting with it in the title
OF_A_SOURCE = 1_000.0  # postings
OF_A_FOLDER = -1.0  # always the first term of its disjunct: postings get those of the folders that index terms name


class Rarity(NamedTuple):
    """Of terms of `Reading`.

    >>> rarity = Rarity({"new": 900, "york": 40})
    >>> rarity.documents("york"), rarity.documents("new york"), rarity.documents("title:new"), rarity.documents("oslo")
    (40, 2.0, 180.0, 0)
    """

    known: Mapping[str, int]  # document frequencies of the words in the index

    def documents(self, term: str) -> float:
        if term.startswith(FOLDER):
            return OF_A_FOLDER
        if term.startswith(LANGUAGE):
            return EVERYWHERE
        if term.startswith(SOURCE):
            return OF_A_SOURCE
        if term.startswith(TITLE):
            return self.documents(term.removeprefix(TITLE)) / IN_TITLE
        if " " in term:
            return min(self.documents(word) for word in term.split(" ")) / TOGETHER
        return self.known.get(term, STOP_WORD if term.startswith(STOP_MARK) else 0)


def words_of(terms: Collection[str]) -> set[str]:
    """The words whose frequencies the index has to provide for these terms.

    >>> sorted(words_of(["new york", "title:vote", "category:world"]))
    ['category:world', 'new', 'vote', 'york']
    """
    return {word for term in terms for word in term.removeprefix(TITLE).split(" ")}
