"""Examples of the query language."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.web.pages.search_query import SearchQuery


@dataclass(frozen=True, slots=True)
class Example:
    text: str
    meaning: Promise

    @property
    def address(self) -> str:
        return reverse("search") + SearchQuery(self.text).address()


EXAMPLES = (
    Example("climate summit", _("these words, in any order and form")),
    Example('"climate summit"', _("exactly these words, next to each other")),
    Example("climate -tax", _("climate without tax; -“two words” and -(one two) work too")),
    Example("paris (summit OR talks)", _("paris, and one of the others")),
    Example("intitle:election", _("in the title")),
    Example('source:guardian,"le monde"', _("from either feed")),
    Example("football -source:bbc", _("not from this feed")),
    Example("category:science", _("in a category of the feed or the article")),
    Example("lang:de,fr", _("in one of these languages")),
    Example('author:"ada lovelace"', _("by this author")),
    Example("after:2026-11 before:2026-12", _("published in November 2026; days and years work too")),
    Example("election after:yesterday", _("since yesterday morning")),
    Example("election after:12h", _("of the last 12 hours; d are days, w weeks")),
    Example("is:unread is:followed", _("unread articles of the feeds that you follow")),
    Example("is:starred solar", _("among your starred articles")),
)
