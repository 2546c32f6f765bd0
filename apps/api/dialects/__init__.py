"""Dialects that other people's programs speak, each a package here with `urls.urlpatterns`.

Being in this package is all that registers one. A dialect translates: whom a request acts for is told by
`apps.api.views.access`, feeds and postings are read by `apps.api.queries` as `apps.api.formats.schemas`, changes are made by
`apps.api.actions` or those of `following`. Dialects do not import each other.
"""

from itertools import chain

from django.urls import URLPattern, URLResolver

from apps.database.registry import entries


def urlpatterns() -> list[URLPattern | URLResolver]:
    """The addresses of all dialects."""
    return list(chain.from_iterable(patterns for _, patterns in entries(__name__, "urlpatterns", within=".urls")))
