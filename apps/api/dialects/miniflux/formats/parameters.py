"""What Miniflux' API is asked with: filters of entries, and changes of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast, get_args

from apps.api.formats.parameters import BadRequest, moment, text, truth, whole

MAX_ENTRIES = 1_000  # of an answer
USUAL_ENTRIES = 100
MAX_CHANGED = 10_000  # entries, by one request
MAX_SEARCH_LENGTH = 1_000  # characters
STATES = frozenset({"read", "unread", "removed"})

Order = Literal[
    "published_at", "id", "status", "changed_at", "created_at", "category_title", "category_id", "title", "author"
]


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Which entries are asked for. None, or nothing: whichever."""

    states: frozenset[str] = frozenset()
    starred: bool | None = None
    feed_id: int | None = None
    category_id: int | None = None
    search: str = ""
    published_after: datetime | None = None
    published_before: datetime | None = None
    changed_after: datetime | None = None
    changed_before: datetime | None = None
    after_id: int | None = None
    before_id: int | None = None
    order: Order = "published_at"
    oldest_first: bool = True
    offset: int = 0
    limit: int = USUAL_ENTRIES

    @property
    def is_plain(self) -> bool:
        """Whether it is one of a person's lists by time, of all or of what is unread."""
        bounds = (self.published_after, self.published_before, self.changed_after, self.changed_before)
        return (
            self.order == "published_at"
            and self.starred is None
            and not self.search
            and all(bound is None for bound in (*bounds, self.after_id, self.before_id))
            and (self.wants_all or self.states == {"unread"})
        )

    @property
    def wants_all(self) -> bool:
        return not self.states or self.states >= {"read", "unread"}


def read_filter(query: Mapping[str, Sequence[str]]) -> EntryFilter:
    """The filters that an address names. Zero stands for none, as in Miniflux.

    Raises BadRequest if one of them cannot be meant.

    Examples
    --------
    >>> read_filter({"status": ["unread"], "limit": ["20"], "direction": ["desc"]}).oldest_first
    False
    """
    said = {name: values[-1] for name, values in query.items() if values and values[-1] != ""}

    def bound(*names: str) -> datetime | None:
        return next((moment(name, said[name]) for name in names if said.get(name, "0") != "0"), None)

    def number(name: str) -> int | None:
        return whole(name, said[name]) or None if name in said else None

    return EntryFilter(
        states=_states(query.get("status", ())),
        starred=truth("starred", said["starred"]) if "starred" in said else None,
        feed_id=number("feed_id"),
        category_id=number("category_id"),
        search=text("search", said.get("search", ""), most=MAX_SEARCH_LENGTH),
        published_after=bound("published_after", "after"),
        published_before=bound("published_before", "before"),
        changed_after=bound("changed_after"),
        changed_before=bound("changed_before"),
        after_id=number("after_entry_id"),
        before_id=number("before_entry_id"),
        order=cast(Order, _one_of("order", said.get("order", "published_at"), get_args(Order))),
        oldest_first=_one_of("direction", said.get("direction", "asc"), ("asc", "desc")) == "asc",
        offset=whole("offset", said.get("offset", 0)),
        limit=min(whole("limit", said.get("limit", USUAL_ENTRIES)) or MAX_ENTRIES, MAX_ENTRIES),
    )


def _states(said: Sequence[str]) -> frozenset[str]:
    states = frozenset(state for state in said if state)
    for state in states:
        _one_of("status", state, sorted(STATES))
    return states


def _one_of(name: str, said: str, known: Sequence[str]) -> str:
    if said not in known:
        raise BadRequest(f"“{name}” has to be one of {', '.join(known)}.")
    return said


def read_change(said: Mapping[str, Any]) -> tuple[list[int], bool]:
    """Which entries are to change, and whether they become read.

    >>> read_change({"entry_ids": [3, 4], "status": "read"})
    ([3, 4], True)
    """
    ids, state = said.get("entry_ids"), said.get("status")
    if not isinstance(ids, list) or not ids:
        raise BadRequest("“entry_ids” has to be a list of numbers.")
    if len(ids) > MAX_CHANGED:
        raise BadRequest(f"“entry_ids” names {len(ids):,} entries; at most {MAX_CHANGED:,} can change at once.")
    if state not in ("read", "unread"):
        raise BadRequest("“status” has to be read or unread: entries are not removed here.")
    return [whole("entry_ids", id) for id in ids], state == "read"
