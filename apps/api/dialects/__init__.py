"""API dialects: each is a package, here or in `extensions/dialects/`, with `urls.urlpatterns`, which registers it.

The portal's own is here; those of other readers are extensions.

A dialect translates: `apps.api.views.access` authenticates a request, `apps.api.queries` reads feeds and postings as
`apps.api.formats.schemas`, and `apps.api.actions` or those of `following` make changes. Dialects do not import each
other.
"""

from itertools import chain

from django.urls import URLPattern, URLResolver

from apps.database.registry import entries


def urlpatterns() -> list[URLPattern | URLResolver]:
    """The addresses of all dialects."""
    return list(chain.from_iterable(patterns for _, patterns in entries(__name__, "urlpatterns", within=".urls")))
