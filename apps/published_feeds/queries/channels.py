"""The lists that are published as feeds, and their addresses."""

from typing import Literal, NamedTuple

from django.urls import reverse

from apps.accounts.queries.site import own_address

Kind = Literal["private", "search", "section"]
SECRET: frozenset[Kind] = frozenset({"private", "search"})  # kinds whose keys are secrets


class Channel(NamedTuple):
    """A published list, independent of the format."""

    kind: Kind
    key: str  # a secret or a slug

    @property
    def is_secret(self) -> bool:
        return self.kind in SECRET

    def path(self, form: str) -> str:
        """The path of the feed in a format; RSS is the default and has the shorter one."""
        named = [] if form == "rss" and not self.is_secret else [form]
        return reverse(f"{self.kind}_feed", args=[self.key, *named])

    def address(self, form: str) -> str:
        return own_address(self.path(form))
