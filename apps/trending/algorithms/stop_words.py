"""Words of headlines that make no trending phrase, beyond the stop words of search.

There is no tagger: what is a noun is decided by these lists, from capitals and, in English, from endings. By kind and
language they have:

- `boilerplate`: words that neither begin nor end a phrase;
- `calendar`: days and months, which trend in every week and year; "May" and "March" are words of their own;
- `verbs`: verbs and adverbs, of which no phrase holds any, unless it is spelt as a name;
- `weak`: words that say little alone or together ("new plan"), but with another one ("New York");
- `between`: words inside a phrase; others end it. Languages without a list allow all stop words;
- `no_verbs`: nouns and names that end like verbs and adverbs.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_name("headline-words.json")


@cache
def words_of(kind: str, language: str) -> frozenset[str]:
    """The words of a kind in a language, which may be none.

    >>> "thursday" in words_of("calendar", "en"), words_of("calendar", "tlh")
    (True, frozenset())
    """
    return frozenset(_lists()[kind].get(language, "").split())


@cache
def _lists() -> Mapping[str, Mapping[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(TABLE.read_text(encoding="utf-8"))
    return found
