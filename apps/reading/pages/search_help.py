"""The language of search by example."""

from dataclasses import dataclass

from django.urls import reverse

from apps.reading.pages.search_asked import Asked


@dataclass(frozen=True, slots=True)
class Example:
    text: str
    meaning: str

    @property
    def address(self) -> str:
        return reverse("search") + Asked(self.text).address()


EXAMPLES = (
    Example("climate summit", "these words, in any order and form"),
    Example('"climate summit"', "the words as they stand, next to each other"),
    Example("climate -tax", "climate without tax; -“two words” and -(one two) work too"),
    Example("paris (summit OR talks)", "paris, and one of the others"),
    Example("intitle:election", "in the title"),
    Example('source:guardian,"le monde"', "from either source"),
    Example("football -source:bbc", "not from this source"),
    Example("category:science", "of a category, the source’s or the posting’s own"),
    Example("lang:de,fr", "in one of these languages"),
    Example('author:"ada lovelace"', "by this author"),
    Example("after:2026-11 before:2026-12", "published in November 2026; days and years work too"),
    Example("election after:yesterday", "since yesterday morning"),
    Example("election after:12h", "of the last 12 hours; d are days, w weeks"),
    Example("is:unread is:followed", "unread postings of the sources that you follow"),
    Example("is:starred solar", "among those that you starred"),
)
