"""Addresses of Miniflux' API."""

from django.urls import include, path

from extensions.dialects.miniflux.views import entries, feeds
from extensions.dialects.miniflux.views.endpoint import resource, unknown

_paths = [
    path("me", resource(GET=feeds.user)),
    path("users/<str:who>", resource(GET=feeds.user)),
    path("users/<str:who>/mark-all-as-read", resource(PUT=feeds.mark_all_as_read)),
    path("export", resource(GET=feeds.export_feeds)),
    path("import", resource(POST=feeds.import_feeds)),
    path("version", resource(GET=feeds.version)),
    path("integrations/status", resource(GET=feeds.integrations)),
    path("flush-history", resource(DELETE=feeds.flush_history, PUT=feeds.flush_history)),
    path("discover", resource(POST=feeds.discover)),
    path("categories", resource(GET=feeds.categories, POST=feeds.create_category)),
    path("categories/<int:category_id>", resource(PUT=feeds.update_category, DELETE=feeds.delete_category)),
    path("categories/<int:category_id>/mark-all-as-read", resource(PUT=feeds.category_read)),
    path("categories/<int:category_id>/refresh", resource(PUT=feeds.refresh)),
    path("categories/<int:category_id>/feeds", resource(GET=feeds.category_feeds)),
    path("categories/<int:category_id>/entries", resource(GET=entries.category_entries)),
    path("categories/<int:category_id>/entries/<int:entry_id>", resource(GET=entries.category_entry)),
    path("feeds", resource(GET=feeds.feeds, POST=feeds.create_feed)),
    path("feeds/refresh", resource(PUT=feeds.refresh)),
    path("feeds/counters", resource(GET=feeds.counters)),
    path("feeds/<int:feed_id>", resource(GET=feeds.feed, PUT=feeds.update_feed, DELETE=feeds.delete_feed)),
    path("feeds/<int:feed_id>/icon", resource(GET=feeds.icon)),
    path("icons/<int:feed_id>", resource(GET=feeds.icon)),
    path("feeds/<int:feed_id>/mark-all-as-read", resource(PUT=feeds.feed_read)),
    path("feeds/<int:feed_id>/refresh", resource(PUT=feeds.refresh)),
    path("feeds/<int:feed_id>/entries", resource(GET=entries.feed_entries)),
    path("feeds/<int:feed_id>/entries/<int:entry_id>", resource(GET=entries.feed_entry)),
    path("entries", resource(GET=entries.entries, PUT=entries.update_entries)),
    path("entries/<int:entry_id>", resource(GET=entries.entry)),
    path("entries/<int:entry_id>/bookmark", resource(PUT=entries.toggle_star)),
    path("entries/<int:entry_id>/star", resource(PUT=entries.toggle_star)),
    path("entries/<int:entry_id>/fetch-content", resource(GET=entries.fetch_content)),
    path("enclosures/<int:enclosure_id>", resource(GET=entries.enclosure, PUT=entries.update_enclosure)),
    path("<path:rest>", resource(GET=unknown, POST=unknown, PUT=unknown, DELETE=unknown)),
]

urlpatterns = [path("v1/", include(_paths))]
