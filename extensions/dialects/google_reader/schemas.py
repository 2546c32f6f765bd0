"""Subscriptions, labels and unread counts of a user."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from apps.accounts.models import User
from apps.api.queries.feeds import sources_by_folder
from apps.following import queries as following
from apps.postings.algorithms.times import microseconds
from apps.sources.algorithms.addresses import absolute
from apps.web.pages.rows import own_icon
from extensions.dialects.google_reader.formats.items import BROADCAST, STARRED
from extensions.dialects.google_reader.formats.streams import READING_LIST, Stream
from extensions.dialects.google_reader.queries.streams import known_sources, labels_by_source, labels_of

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


# --- subscriptions ----------------------------------------------------------------------------------------------------
def subscriptions(user: User) -> dict[str, Any]:
    """All follows in the user's order. Five queries."""
    labels = labels_by_source(user, labels_of(user))
    addresses = ("source_id", "source__url", "source__site_url", "source__image_url", "source__icon_id")
    urls = {
        row.source_id: {
            "url": row.source__url,
            "htmlUrl": absolute(row.source__site_url),
            "iconUrl": own_icon(row.source__icon_id) or absolute(row.source__image_url),
        }
        for row in following.follows_of(user).values_list(*addresses, named=True)
    }
    return {
        "subscriptions": [
            {
                "id": str(Stream("feed", str(followed.source_id))),
                "title": followed.title,
                "categories": [
                    {"id": str(Stream("label", label)), "label": label} for label in labels.get(followed.source_id, ())
                ],
                "sortid": f"{place:08X}",
            }
            | urls.get(followed.source_id, {})
            for place, followed in enumerate(following.followed_sources(user))
        ]
    }


def heading(user: User, stream: Stream) -> tuple[str, str]:
    """The title of a stream, and the site of a feed."""
    if stream.kind != "feed":
        return stream.name, ""
    source_id = known_sources(user, [stream])[stream]
    source = following.visible_sources(user).get(pk=source_id)
    follow = following.follow_of(user, source_id)
    return (follow and follow.title) or str(source), absolute(source.site_url)


# --- labels -----------------------------------------------------------------------------------------------------------
def tags(user: User) -> dict[str, Any]:
    """The lists other than feeds that a client can show. Three queries."""
    labels = labels_of(user)
    unread = following.unread_in_tags(user)
    found: list[dict[str, Any]] = [{"id": str(STARRED)}, {"id": str(BROADCAST)}]
    found += [{"id": str(Stream("label", label)), "type": "folder"} for label in labels.folders]
    for name, tag_id in labels.tags.items():
        if name not in labels.folders:
            count, _at = unread.get(tag_id, (0, None))
            found.append({"id": str(Stream("label", name)), "type": "tag", "unread_count": count})
    return {"tags": [tag | {"sortid": f"{place:08X}"} for place, tag in enumerate(found)]}


# --- numbers ----------------------------------------------------------------------------------------------------------
def unread_counts(user: User) -> dict[str, Any]:
    """Unread postings and latest arrival of every feed and label, and of all. Seven queries.

    A source counts once per label, and a muted one only in its own list.
    """
    labels = labels_of(user)
    counts, newest = following.unread_counts(user), following.newest_arrivals(user)
    followed = following.followed_sources(user)
    audible = [each.source_id for each in followed if not each.muted]
    found = [_count(Stream("feed", str(each.source_id)), [each.source_id], counts, newest) for each in followed]
    within = sources_by_folder(user, labels.folders.values())
    found += [
        _count(Stream("label", label), within[folder.pk], counts, newest) for label, folder in labels.folders.items()
    ]
    in_tags = following.unread_in_tags(user)
    for name, tag_id in labels.tags.items():
        if name not in labels.folders:
            found.append(_entry(Stream("label", name), *in_tags.get(tag_id, (0, _NEVER))))
    whole = _count(READING_LIST, audible, counts, newest)
    return {"max": whole["count"], "unreadcounts": [*found, whole]}


def _count(
    stream: Stream, source_ids: Iterable[int], counts: Mapping[int, int], newest: Mapping[int, datetime]
) -> dict[str, Any]:
    source_ids = list(source_ids)
    latest = max((newest[id] for id in source_ids if id in newest), default=_NEVER)
    return _entry(stream, sum(counts.get(id, 0) for id in source_ids), latest)


def _entry(stream: Stream, count: int, newest: datetime) -> dict[str, Any]:
    return {"id": str(stream), "count": count, "newestItemTimestampUsec": str(microseconds(newest))}


# --- the user ---------------------------------------------------------------------------------------------------------
def user_info(user: User) -> dict[str, Any]:
    return {
        "userId": str(user.pk),
        "userName": user.get_username(),
        "userProfileId": str(user.pk),
        "userEmail": user.email,
        "isBloggerUser": False,
        "isMultiLoginEnabled": False,
        "signupTimeSec": microseconds(user.date_joined) // 1_000_000,
    }


def friends(user: User) -> dict[str, Any]:
    """The user alone: the portal has no friends."""
    number, name = str(user.pk), user.get_username()
    return {
        "friends": [
            {
                "userIds": [number],
                "profileIds": [number],
                "contactId": "-1",
                "stream": f"user/{number}/state/com.google/broadcast",
                "flags": 1,
                "displayName": name,
                "givenName": name,
                "n": "",
                "p": "",
                "hasSharedItemsOnProfile": False,
            }
        ],
        "encodedSharersList": "",
    }
