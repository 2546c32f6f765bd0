"""Addresses of the search page."""

from urllib.parse import urlencode

from django.urls import reverse

from apps.search.algorithms.language.trees import quotable


def query_address(query: str, order: str = "") -> str:
    values = [("q", query), ("order", order)]
    return reverse("search") + "?" + urlencode([(name, value) for name, value in values if value])


def search_address(term: str) -> str:
    """The address of a search for a word, or words in this order.

    >>> search_address("storm"), search_address("world cup"), search_address("OR")
    ('/search/?q=storm', '/search/?q=%22world+cup%22', '/search/?q=%22OR%22')
    """
    is_word = term.isascii() and term.isalnum() and term not in ("AND", "OR", "NOT")
    return query_address(term if is_word else f'"{quotable(term)}"')
