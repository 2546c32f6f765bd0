"""Requests of every URL pattern: pages, Django's own administration, and the dialects of programs."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from string import Template
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from django.apps import apps
from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse
from django.urls.resolvers import RoutePattern

from tests.apps.api.test_other_peoples_objects import Call
from tests.journeys.walk.entries import ENTRIES

FORM, JSON = "application/x-www-form-urlencoded", "application/json"
READING, EVERY_METHOD = ("GET", "POST"), ("GET", "POST", "PUT", "PATCH", "DELETE")
_PLACE = re.compile(r"<(?:\w+:)?(\w+)>")


@dataclass(frozen=True, slots=True)
class Pattern:
    name: str  # or the route, where it has no name
    route: str
    namespace: str
    places: tuple[str, ...]
    has_plain_routes: bool

    @property
    def kind(self) -> str:
        if self.namespace == "admin:":
            return "admin"
        return next((kind for kind, entries in ENTRIES.items() if self.name in entries), "")

    def path(self, values: Mapping[str, Any]) -> str:
        given = {place: values[place] for place in self.places}
        if self.has_plain_routes:
            return "/" + _PLACE.sub(lambda found: quote(str(given[found[1]])), self.route)
        if self.route.endswith("(?P<url>.*)$"):
            return "/admin/nothing-here"
        return reverse(self.name, kwargs=given)


def patterns() -> list[Pattern]:
    return list(_below(get_resolver()))


def _below(
    resolver: URLResolver, route: str = "", namespace: str = "", places: tuple[str, ...] = (), is_plain: bool = True
) -> Iterator[Pattern]:
    for entry in resolver.url_patterns:
        whole, inside = route + str(entry.pattern), (*places, *entry.pattern.regex.groupindex)
        plain = is_plain and isinstance(entry.pattern, RoutePattern)
        if isinstance(entry, URLPattern):
            yield Pattern(namespace + entry.name if entry.name else whole, whole, namespace, inside, plain)
        else:
            below = f"{namespace}{entry.namespace}:" if entry.namespace else namespace
            yield from _below(entry, whole, below, inside, plain)


def requests(known: list[Pattern], values: Mapping[str, Any]) -> Iterator[Call]:
    """Those of patterns with an entry; the operations of our own interface come from its document."""
    for pattern in known:
        if pattern.kind == "admin":
            yield from _of_administration(pattern, values)
        elif pattern.kind:
            methods = EVERY_METHOD if pattern.kind == "dialect" else READING
            for form in ENTRIES[pattern.kind][pattern.name] or ("",):
                for method in methods:
                    yield _request(pattern, method, form, values)


def _request(pattern: Pattern, method: str, form: str, values: Mapping[str, Any]) -> Call:
    filled = Template(form).safe_substitute({name: str(value) for name, value in values.items()})
    path, is_of_owner = pattern.path(values), bool(pattern.places)
    label = f"{pattern.name} {form} {method}".replace("  ", " ")
    if filled.startswith("{"):
        body = json.loads(filled)
        return Call(label, method, path, body=None if method == "GET" else body, kind=JSON, is_of_owner=is_of_owner)
    pairs = parse_qsl(filled, keep_blank_values=True)
    if method == "GET":
        query = {} if path.startswith("/accounts/") else _grouped(pairs)  # only repeated there, as what comes next
        return Call(label, method, path, query=query, is_of_owner=is_of_owner)
    query = _grouped(pairs) if pattern.name.startswith(("fever", "api/fever")) else {}
    return Call(label, method, path, query, urlencode(pairs).encode(), FORM, is_of_owner)


def _grouped(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


def _of_administration(pattern: Pattern, values: Mapping[str, Any]) -> Iterator[Call]:
    table = pattern.route.split("/")[1:3]
    own = {"id": values["user_id"], "app_label": "accounts", "url": "nothing"}
    if "object_id" in pattern.places and len(table) == 2 and table[0] != "r":
        first = apps.get_model(*table)._default_manager.order_by("pk").first()
        own["object_id"] = first.pk if first else 1
    for method in READING:
        form = b"post=yes&_save=Save&action=delete_selected&name=mine" if method == "POST" else None
        path = pattern.path({**values, **own})
        yield Call(f"{pattern.name} {method}", method, path, body=form, kind=FORM, is_of_owner=True)


ODD_NUMBERS = (0, 2**63)
ODD_TEXTS = ("%00", "a" * 3_000)
ODD_FIELDS = ("\0\ud800", str(2**63))


def odd_requests(known: list[Pattern], values: Mapping[str, Any]) -> Iterator[Call]:
    """Numbers that no row has, and texts that no database takes, in URLs and in forms."""
    for pattern in known:
        for place in pattern.places:
            for odd in ODD_NUMBERS if place.endswith("_id") else ODD_TEXTS:
                try:
                    path = pattern.path(
                        {**values, "id": "1", "app_label": "auth", "url": "x", "object_id": "1", place: odd}
                    )
                except NoReverseMatch:  # there is no such URL
                    continue
                for method in READING if odd in (ODD_NUMBERS[0], ODD_TEXTS[0]) else READING[:1]:
                    yield Call(f"{pattern.name} {place}={odd!s:.20}", method, path.replace("%2500", "%00"))
    for call in requests(known, values):
        if call.kind == FORM and call.body and not call.path.startswith("/admin/"):
            yield from _with_odd_fields(call, pairs=parse_qsl(call.body.decode(), keep_blank_values=True))


def _with_odd_fields(call: Call, pairs: list[tuple[str, str]]) -> Iterator[Call]:
    """Each field with each of them; the query of a GET request with one, in turns."""
    for place, (field, _value) in enumerate(pairs):
        for number, odd in enumerate(ODD_FIELDS):
            changed = [*pairs[:place], (field, odd), *pairs[place + 1 :]]
            label = f"{call.name} {field}={odd!r:.20}"
            if call.method == "POST":
                yield Call(
                    label, "POST", call.path, call.query, urlencode(changed, errors="surrogatepass").encode(), FORM
                )
                if (place + number) % 2 == 0:
                    yield Call(label, "GET", call.path, urlencode(changed, errors="surrogatepass"))
