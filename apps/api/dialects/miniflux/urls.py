"""Miniflux' own API, at the addresses that its programs put behind the portal's."""

from django.urls import include, path

from apps.api.dialects.miniflux.views import account, entries, feeds

_paths = [
    path("me", account.me),
    path("users", account.users),
    path("users/<str:who>", account.user),
    path("users/<str:who>/mark-all-as-read", account.user_read),
    path("api-keys", account.api_keys),
    path("api-keys/<int:key_id>", account.api_key),
    path("export", account.export_feeds),
    path("import", account.import_feeds),
    path("version", account.version),
    path("integrations/status", account.integrations),
    path("flush-history", account.flush_history),
    path("discover", feeds.discover),
    path("categories", feeds.categories),
    path("categories/<int:category_id>", feeds.category),
    path("categories/<int:category_id>/mark-all-as-read", feeds.category_read),
    path("categories/<int:category_id>/refresh", feeds.category_refresh),
    path("categories/<int:category_id>/feeds", feeds.category_feeds),
    path("categories/<int:category_id>/entries", entries.category_entries),
    path("categories/<int:category_id>/entries/<int:entry_id>", entries.category_entry),
    path("feeds", feeds.feeds),
    path("feeds/refresh", feeds.feeds_refresh),
    path("feeds/counters", feeds.counters),
    path("feeds/<int:feed_id>", feeds.feed),
    path("feeds/<int:feed_id>/mark-all-as-read", feeds.feed_read),
    path("feeds/<int:feed_id>/refresh", feeds.feed_refresh),
    path("feeds/<int:feed_id>/icon", feeds.feed_icon),
    path("feeds/<int:feed_id>/entries", entries.feed_entries),
    path("feeds/<int:feed_id>/entries/import", entries.import_entry),
    path("feeds/<int:feed_id>/entries/<int:entry_id>", entries.feed_entry),
    path("icons/<int:icon_id>", feeds.icon),
    path("entries", entries.entries),
    path("entries/<int:entry_id>", entries.entry),
    path("entries/<int:entry_id>/bookmark", entries.star),
    path("entries/<int:entry_id>/star", entries.star),
    path("entries/<int:entry_id>/save", entries.save),
    path("entries/<int:entry_id>/fetch-content", entries.fetch_content),
    path("enclosures/<int:enclosure_id>", entries.enclosure),
    path("<path:rest>", account.unknown),
]

urlpatterns = [path("v1/", include(_paths))]
