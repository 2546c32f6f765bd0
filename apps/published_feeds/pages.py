"""Contents of the pages about published feeds, and of pages shared from other sites."""

import json
from typing import NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.accounts.queries.site import own_address
from apps.following import queries as following
from apps.following.queries import Scope
from apps.published_feeds.algorithms.states import address_in
from apps.published_feeds.formats import FORMS
from apps.published_feeds.models import PrivateAddress
from apps.published_feeds.queries.addresses import addresses_of, secret_of_list
from apps.published_feeds.queries.channels import Channel
from apps.published_feeds.queries.feeds import name_of, page_of

Kind = PrivateAddress.Kind
MAX_TITLE_LENGTH = 300  # characters


class FeedLink(NamedTuple):
    label: str
    address: str
    media_type: str


class FeedsMenu(NamedTuple):
    """The feeds of a page; for a private list without an address, the form values that create one."""

    links: tuple[FeedLink, ...]
    is_secret: bool = False
    kind: str = ""
    list_id: int = 0


def menu_of_list(user: User | AnonymousUser, scope: Scope) -> FeedsMenu | None:
    """The feeds of one of the person's lists; a source has its own feed. At most one query."""
    if not user.is_authenticated or scope.kind in ("source", "sources"):
        return None
    return _menu(user, scope.kind, scope.id)


def menu_of_shared(user: User) -> FeedsMenu:
    return _menu(user, Kind.SHARED)


def _menu(user: User, kind: str, list_id: int = 0) -> FeedsMenu:
    secret = secret_of_list(user, kind, list_id)
    links = () if secret is None else links_of(Channel("private", secret))
    return FeedsMenu(links, True, kind, list_id)


def menu_of(channel: Channel) -> FeedsMenu:
    return FeedsMenu(links_of(channel))


def links_of(channel: Channel) -> tuple[FeedLink, ...]:
    return tuple(FeedLink(form.label, channel.address(form.name), form.media_type) for form in FORMS.values())


# --- private addresses ------------------------------------------------------------------------------------------------
def addresses_page(user: User) -> dict[str, object]:
    """Three queries."""
    found = list(addresses_of(user).select_related("folder", "tag").order_by("kind", "pk"))
    had = {(private.kind, private.folder_id or private.tag_id or 0) for private in found}
    folders = following.folder_paths(following.folders_of(user))
    lists: list[tuple[str, int, str]] = [
        (kind, 0, str(kind.label)) for kind in Kind if kind not in (Kind.FOLDER, Kind.TAG)
    ]
    lists += [(Kind.FOLDER, folder_id, " / ".join(path)) for folder_id, path in folders.items()]
    lists += [(Kind.TAG, tag.pk, tag.name) for tag in following.tags_of(user)]
    unpublished = [
        {"value": f"{kind}-{list_id}", "name": name, "kind": kind}  # the value as the form posts it
        for kind, list_id, name in lists
        if (kind, list_id) not in had
    ]
    return {"rows": list(map(_row, found)), "unpublished": unpublished}


def _row(private: PrivateAddress) -> dict[str, object]:
    links = links_of(Channel("private", private.secret))
    if private.kind == Kind.SOURCES:
        links = (FeedLink("OPML", own_address(reverse("private_sources", args=[private.secret])), "text/x-opml"),)
    name = str(Kind.SHARED.label) if private.kind == Kind.SHARED else name_of(private)
    page = page_of(private)
    return {"id": private.pk, "name": name, "page": page, "links": links, "made_at": private.made_at}


# --- shared pages -----------------------------------------------------------------------------------------------------
def save_page(user: User, url: str, text: str, title: str) -> dict[str, object]:
    """The page that a browser or an app shares. At most two queries."""
    address = address_in(url, text, title)
    posting = following.posting_at(user, address) if address else None
    is_starred = posting is not None and following.starred_among(user, [posting.pk]) != set()
    return {
        "address": address,  # "" if the request has none
        "title": " ".join(title.split())[:MAX_TITLE_LENGTH],
        "posting": posting,  # the stored article of the page, if the person may read it
        "is_starred": is_starred,
    }


def buttons_page() -> list[dict[str, str]]:
    here = "encodeURIComponent(location.href)"
    save, add = (json.dumps(own_address(reverse(name))) for name in ("save_page", "add"))
    return [
        {
            "name": _("Save in Wirebeat"),
            "script": f"javascript:void(location={save}+'?url='+{here}+'&title='+encodeURIComponent(document.title))",
            "description": _("Opens the article here, so that you can star it, and offers to follow its site."),
        },
        {
            "name": _("Follow in Wirebeat"),
            "script": f"javascript:void(location={add}+'?address='+{here})",
            "description": _("Finds the feeds of the page's site, so that you can follow one."),
        },
    ]
