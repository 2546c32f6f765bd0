"""Addresses of feeds' icons, which caches may keep for ever, and the letters in their place."""

import functools

from django.urls import reverse

from apps.accounts.queries.site import own_address


@functools.lru_cache(maxsize=10_000)
def icon_address(digest: str | None) -> str:
    """The address of an icon; empty for a feed that has none."""
    return reverse("feed_icon", args=[digest]) if digest else ""


def own_icon(digest: str | None) -> str:
    """The absolute address of an icon, for other programs; empty for a feed that has none."""
    return own_address(icon_address(digest)) if digest else ""
