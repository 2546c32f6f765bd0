"""Known items: whether three words of a headline find its article."""

import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import rjieba
from django.contrib.auth.models import AnonymousUser

from apps.postings.algorithms.words import STOP_MARK, analyse
from apps.postings.models import Posting
from apps.search.algorithms.language import parse
from apps.search.algorithms.models.ranking import bm25
from apps.search.queries import search, snapshot
from apps.search.queries.analysis import languages_of, query_of
from apps.sources.actions.editing import add_source
from apps.sources.models import Source
from lab.evaluations.search.runs import PUBLISHED, fill_index
from lab.worlds.index import posting_ids
from lab.worlds.items import Item, add_sources_of, copy_postings, read_items

LANGUAGES = ("en", "pl", "zh")
WORDS = 3  # of a headline
FIRST = 3  # results that count
MAX_STORIES = 1_000  # Chinese ones


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A query for an article."""

    language: str
    query: str
    posting_ids: frozenset[int]  # those of its headline


def fill(items: Path, stories: Path | None, count: int, *, seed: int) -> None:
    """Store and index drawn items of a recording, and Chinese stories, if there are any."""
    drawn = read_items(items, count, seed=seed)
    source_ids = add_sources_of(drawn, items, listed=True)
    if stories:
        chinese = max(source_ids) + 1
        source_ids[chinese] = add_source(Source(url="https://stories.example/feed", language="zh", listed=True))
        lines = stories.read_text(encoding="utf-8").splitlines()[:MAX_STORIES]
        drawn += [_story(json.loads(line), chinese) for line in lines]
    copy_postings(drawn, source_ids, first=0)
    fill_index()


def _story(line: Mapping[str, str], source: int) -> Item:
    return Item(source, int(PUBLISHED.timestamp()), line["headLine"], line["newsBeginning"] + line["newsRemainder"])


def draw_known_items(count: int, *, seed: int) -> list[KnownItem]:
    """Queries for articles of all languages, as many of each; `count` at most."""
    chance = random.Random(seed)
    postings: defaultdict[str, defaultdict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for row in Posting.objects.order_by("pk").values_list("pk", "title", "source__language", named=True):
        postings[row.source__language[:2]][row.title].add(row.pk)
    known: list[KnownItem] = []
    for language in LANGUAGES:
        headlines = {title: words_of(title, language) for title in postings[language]}
        usable = [title for title, words in headlines.items() if len(words) >= WORDS]
        for title in chance.sample(usable, min(count // len(LANGUAGES), len(usable))):
            query = " ".join(chance.sample(headlines[title], WORDS))
            known.append(KnownItem(language, query, frozenset(postings[language][title])))
    return known


def words_of(title: str, language: str) -> list[str]:
    """The distinct words of a headline, in lower case, without stop words.

    >>> words_of("The vote on the Budget: vote late", "en"), words_of("总理访问柏林", "zh")
    (['budget', 'vote', 'late'], ['总理', '访问', '柏林'])
    """
    if language == "zh":
        return list(dict.fromkeys(word for word in rjieba.cut(title) if len(word) > 1 and word.isalpha()))
    words = analyse(title, language)
    spellings = {
        item: title[start:end].lower()
        for item, (start, end) in reversed(list(zip(words.sequence, words.places, strict=True)))
        if not item.startswith(STOP_MARK)
    }
    return [word for word in reversed(spellings.values()) if word.isalnum()]


def found_by_ours(known: KnownItem) -> bool:
    now = datetime.now(UTC)
    result = search(AnonymousUser(), parse(known.query), order="relevance", cursor="", expansion=True, now=now)
    return not known.posting_ids.isdisjoint(result.postings[:FIRST])


def found_by_bm25(known: KnownItem) -> bool:
    tree = parse(known.query)
    with snapshot() as index:
        query = query_of(index, tree, languages_of(index, tree))
        return not known.posting_ids.isdisjoint(posting_ids(bm25(index, query, FIRST).documents))


def shares_found(
    known: Sequence[KnownItem], watch: Callable[[Sequence[KnownItem], str], Iterable[KnownItem]]
) -> dict[str, float]:
    """The shares found among the first three, by language and together, ours and BM25's."""
    shares = {}
    for name, is_found in (("ours", found_by_ours), ("bm25", found_by_bm25)):
        found = [(each.language, is_found(each)) for each in watch(known, name)]
        for language in (*LANGUAGES, ""):
            hits = [is_hit for code, is_hit in found if not language or code == language]
            shares[f"known.{language or 'all'}.{name}"] = sum(hits) / max(len(hits), 1)
    return shares
