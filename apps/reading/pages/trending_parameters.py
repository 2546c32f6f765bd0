"""The parameters of the page of trends, as its address contains them."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, Self, get_args
from urllib.parse import quote_plus

from django.http import QueryDict

from apps.database.sanitizing import sanitize

Method = Literal["ours", "yioop"]
Period = Literal["hours", "days", "months"]

MAX_CHARTED = 5  # terms
MAX_TERM_LENGTH = 200  # characters


@dataclass(frozen=True, slots=True)
class TrendingParameters:
    language: str = ""  # empty: the most frequent one
    category: str = ""  # empty: all
    method: Method = "ours"
    period: Period | None = None  # None: one that has data
    terms: tuple[str, ...] = ()  # charted; empty: the first ones of the day

    @classmethod
    def read(cls, given: QueryDict) -> Self:
        """Parse an address; invalid values are ignored.

        >>> TrendingParameters.read(QueryDict("language=en&term=rain&term=rain&term=&period=year"))
        TrendingParameters(language='en', category='', method='ours', period=None, terms=('rain',))
        """
        method, period = given.get("method"), given.get("period")
        terms = (" ".join(sanitize(term).split())[:MAX_TERM_LENGTH] for term in given.getlist("term"))
        return cls(
            language=sanitize(given.get("language", ""))[:3],
            category=sanitize(given.get("category", ""))[:100],
            method="yioop" if method == "yioop" else "ours",
            period=next((known for known in get_args(Period) if known == period), None),
            terms=tuple(dict.fromkeys(filter(None, terms)))[-MAX_CHARTED:],
        )

    def address(self) -> str:
        """The query string that `read` parses.

        >>> TrendingParameters("en", terms=("new york",)).address()
        '?language=en&term=new+york'
        """
        values = [("language", self.language), ("category", self.category)]
        values += [("method", self.method)] if self.method != "ours" else []
        values += [("period", self.period)] if self.period else []
        values += [("term", term) for term in self.terms]
        return "?" + "&".join([f"{name}={_quoted(value)}" for name, value in values if value])

    def of(self, language: str, category: str) -> Self:
        terms = self.terms if language == self.language else ()
        return replace(self, language=language, category=category, terms=terms)

    def charting(self, terms: tuple[str, ...]) -> Self:
        return replace(self, terms=terms[-MAX_CHARTED:])


_quoted = lru_cache(1_024)(quote_plus)  # the many addresses of a page have the same parts
