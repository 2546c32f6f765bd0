"""Addresses of Google Reader's API, as clients use them.

Addresses may begin with two slashes, slashes in streams are escaped or not, and clients of FreshRSS prefix the name of
its script, RSS Guard a second time if the server was entered with it.
"""

from collections.abc import Callable

from django.http import HttpResponseBase
from django.urls import URLPattern, re_path

from extensions.dialects.google_reader import schemas
from extensions.dialects.google_reader.views import endpoint, streams, subscriptions

# In brackets, because Django would warn of the second slash, which clients send.
_BEGIN = r"^[/]*" + r"(?:api/greader\.php/+)?" * 2


def _path(route: str, view: Callable[..., HttpResponseBase], name: str) -> URLPattern:
    return re_path(f"{_BEGIN}{route}$", view, name=f"greader_{name}")


def _call(route: str, view: Callable[..., HttpResponseBase], name: str) -> URLPattern:
    return _path(f"reader/api/0/{route}", view, name)


urlpatterns = [
    re_path(r"^[/]*api/greader\.php/*$", endpoint.greet, name="greader_greet"),
    _path("accounts/ClientLogin", endpoint.client_login, "client_login"),
    _path(r"reader/atom/+(?P<stream>.+)", streams.atom, "atom"),
    _call("token", endpoint.token, "token"),
    _call("user-info", endpoint.own(schemas.user_info), "user_info"),
    _call("friend/list", endpoint.own(schemas.friends), "friends"),
    # None: preferences apply to pages.
    _call("preference/list", endpoint.own(lambda person: {"prefs": []}), "preferences"),
    _call("preference/stream/list", endpoint.own(lambda person: {"streamprefs": {}}), "stream_preferences"),
    _call("subscription/list", endpoint.own(schemas.subscriptions), "subscriptions"),
    _call("subscription/edit", subscriptions.edit, "subscription_edit"),
    _call("subscription/quickadd", subscriptions.quick_add, "quick_add"),
    _call("subscription/export", subscriptions.export, "export"),
    _call("subscription/import", subscriptions.import_feeds, "import"),
    _call("tag/list", endpoint.own(schemas.tags), "tags"),
    _call("rename-tag", subscriptions.rename_tag, "rename_tag"),
    _call("disable-tag", subscriptions.disable_tag, "disable_tag"),
    _call("unread-count", endpoint.own(schemas.unread_counts), "unread_count"),
    _call("edit-tag", subscriptions.edit_tags, "edit_tag"),
    _call("mark-all-as-read", subscriptions.mark_all_as_read, "mark_all_as_read"),
    _call(r"stream/contents(?:/+(?P<stream>.*))?", streams.contents, "contents"),
    _call("stream/items/ids", streams.ids, "item_ids"),
    _call("stream/items/contents", streams.items_contents, "items_contents"),
    _call("stream/items/count", streams.count, "item_count"),
]
