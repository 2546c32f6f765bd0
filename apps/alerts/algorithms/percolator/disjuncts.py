"""The disjuncts of a query, by the terms that each requires."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from apps.alerts.algorithms.percolator import documents
from apps.postings.algorithms.words import STOP_MARK
from apps.search.algorithms.language import And, Filter, Not, Or, Phrase, Tree, Word
from apps.search.algorithms.language.matching import name_words

MAX_DISJUNCTS = 8  # of a conjunction of alternatives, multiplied out

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
        case "source" | "category" | "author" as field:
            words = name_words(value)
            terms = frozenset(_NAMED[field] + word[: documents.MAX_BEGINNING_LENGTH] for word in words)
            return [Disjunct(terms, exact=False)] if terms else []
        case "lang":
            return [Disjunct(frozenset({documents.LANGUAGE + value}), exact=True)] if value in languages else []
        case "intitle":
            items = read(value)
            return [_conjunction(items, documents.TITLE)] if items else None
        case "before" | "after" | "is":
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
