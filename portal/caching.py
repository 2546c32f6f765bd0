"""Cache-Control of every response, by the name or route of its URL, see `caching.toml`."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers


class Caching(NamedTuple):
    control: str  # Cache-Control (RFC 9111, section 5.2.2)
    vary: tuple[str, ...]


# Only the user's browser caches it, and revalidates it.
PERSONAL = Caching("private, no-cache", ("Cookie",))
# Never cached: secrets, tokens, exports, and pages that change an account.
SECRET = Caching("private, no-store", ("Cookie",))
# For API clients, which authenticate with a header.
PROGRAM = Caching("private, no-cache", ("Authorization", "X-Auth-Token"))
# The view sets it: public responses, and those whose version the service worker checks.
STATED_BY_VIEW = Caching("", ())

_RULES = {"personal": PERSONAL, "secret": SECRET, "program": PROGRAM, "stated_by_view": STATED_BY_VIEW}
_TABLE = tomllib.loads(Path(__file__).with_name("caching.toml").read_text("utf-8"))
_BY_NAME = {name: _RULES[rule] for rule, names in _TABLE["names"].items() for name in names.split()}
_BY_ROUTE = {beginning: _RULES[rule] for beginning, rule in _TABLE["routes"].items()}


def caching_of(route: str, name: str) -> Caching | None:
    """The rule for a URL, by its name or the beginning of its route; None if there is none."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    return next((caching for beginning, caching in _BY_ROUTE.items() if route.startswith(beginning)), None)


def with_caching(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: sets Cache-Control of every response, errors included."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        match = request.resolver_match
        if match is None:  # not found, or refused before the URL was resolved
            return _stated(response, PERSONAL)
        return _stated(response, caching_of(match.route, match.view_name) or SECRET)

    return middleware


def _stated(response: HttpResponseBase, caching: Caching) -> HttpResponseBase:
    present = response.headers.get("Cache-Control", "")
    if caching is STATED_BY_VIEW:
        if present:
            return response
        caching = PERSONAL  # a 404 page of the view
    if "no-store" not in present:
        response.headers["Cache-Control"] = caching.control
    patch_vary_headers(response, caching.vary)
    return response
