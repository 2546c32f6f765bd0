"""The lists that are published as feeds, and their addresses."""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlencode

from django.conf import settings
from django.http import QueryDict
from django.urls import reverse

from apps.accounts.queries.site import own_address

Kind = Literal["private", "search", "section", "story", "trends"]
SECRET: frozenset[Kind] = frozenset({"private", "search"})  # whose keys are secrets


def hubs() -> tuple[str, ...]:
    """Addresses of the hubs that are notified of new entries."""
    return tuple(settings.PUBLISHING_HUBS)


@dataclass(frozen=True, slots=True)
class Channel:
    """A published list, independent of the format."""

    kind: Kind
    key: str  # a secret, a slug, a number, or the query string of a list of trends

    @property
    def is_secret(self) -> bool:
        return self.kind in SECRET

    def path(self, form: str) -> str:
        """The path of the feed in a format; RSS is the default and has the shorter one."""
        named = [] if form == "rss" and not self.is_secret else [form]
        if self.kind == "trends":
            return reverse("trends_feed", args=named) + f"?{self.key}"
        return reverse(f"{self.kind}_feed", args=[self.key, *named])

    def address(self, form: str) -> str:
        return own_address(self.path(form))


@dataclass(frozen=True, slots=True)
class TrendList:
    """A list of trends by its parameters."""

    language: str
    category: str
    method: str
    horizon: str

    @property
    def key(self) -> str:
        """
        >>> TrendList("en", "", "ours", "day").key
        'language=en&horizon=day'
        """
        method = "" if self.method == "ours" else self.method
        named = {"language": self.language, "category": self.category, "method": method}
        return urlencode({name: value for name, value in named.items() if value} | {"horizon": self.horizon})

    @property
    def channel(self) -> Channel:
        return Channel("trends", self.key)

    @classmethod
    def read(cls, key: str) -> "TrendList":
        """The list whose `key` this is.

        >>> TrendList.read("language=en&horizon=day")
        TrendList(language='en', category='', method='ours', horizon='day')
        """
        given = QueryDict(key)
        return cls(
            given.get("language", ""), given.get("category", ""), given.get("method", "ours"), given.get("horizon", "")
        )
