"""Addresses of the portal's own API, its description, and 404 for all others."""

from django.urls import URLPattern, URLResolver, path

from apps.api.dialects.rest.views import account, folders, following, postings, search, sources, stories
from apps.api.dialects.rest.views.endpoint import Interface, unknown_address, with_limits
from apps.sources.formats.opml import MAX_DOCUMENT_BYTES

_LISTS = {"export_list", "import_list"}  # OPML instead of JSON

interface = Interface()
parts = (account, sources, following, folders, postings, search)
for router in (*(part.router for part in parts), stories.trends_router, stories.router):
    interface.add_router("", router)


def _patterns() -> tuple[list[URLPattern | URLResolver], str, str]:
    patterns, app, namespace = interface.urls
    for pattern in patterns:
        assert isinstance(pattern, URLPattern)
        if pattern.name == "api-root":
            pattern.callback = with_limits(unknown_address)
        elif pattern.name in _LISTS:
            pattern.callback = with_limits(pattern.callback, accepts=folders.OPML_TYPES, largest=MAX_DOCUMENT_BYTES)
        else:
            pattern.callback = with_limits(pattern.callback)
    return [*patterns, path("<path:rest>", with_limits(unknown_address))], app, namespace


urlpatterns = [path("api/v1/", _patterns())]
