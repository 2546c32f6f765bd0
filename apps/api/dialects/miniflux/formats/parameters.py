"""Parameters of Miniflux' API: filters and changes of entries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast, get_args

from apps.api.formats.parameters import BadRequest, moment, text, truth, whole

MAX_ENTRIES = 1_000  # of a response
USUAL_ENTRIES = 100
MAX_CHANGED = 10_000  # entries, by one request
MAX_SEARCH_LENGTH = 1_000  # characters
STATES = frozenset({"read", "unread", "removed"})

Order = Literal["published_at", "id", "status", "changed_at", "created_at", "title", "author"]


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Filter, order and page of a list of entries. None or empty: no filter."""

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
        """Whether it is a list of the portal by time, of all or unread postings."""
        return (
            self.order == "published_at"
            and not self._is_filtered
            and self.after_id is None
            and self.before_id is None
            and (self.wants_all or self.states == {"unread"})
        )

    @property
    def is_by_id(self) -> bool:
        """Whether all postings are listed by id, as programs do that keep a copy."""
        return self.order == "id" and self.wants_all and not self._is_filtered

    @property
    def _is_filtered(self) -> bool:
        bounds = (self.published_after, self.published_before, self.changed_after, self.changed_before, self.starred)
        return bool(self.search) or any(bound is not None for bound in bounds)

    @property
    def wants_all(self) -> bool:
        return not self.states or self.states >= {"read", "unread"}


def read_filter(query: Mapping[str, Sequence[str]]) -> EntryFilter:
    """The filter in a query string; zero means no filter. Raises BadRequest for an invalid value.

    Examples
    --------
    >>> read_filter({"status": ["unread"], "limit": ["20"], "direction": ["desc"]}).oldest_first
    False
    """
    last = {name: values[-1] for name, values in query.items() if values and values[-1] != ""}

    def bound(*names: str) -> datetime | None:
        return next((moment(name, last[name]) for name in names if last.get(name, "0") != "0"), None)

    def number(name: str) -> int | None:
        return whole(name, last[name]) or None if name in last else None

    return EntryFilter(
        states=_states(query.get("status", ())),
        starred=truth("starred", last["starred"]) if "starred" in last else None,
        feed_id=number("feed_id"),
        category_id=number("category_id"),
        search=text("search", last.get("search", ""), most=MAX_SEARCH_LENGTH),
        published_after=bound("published_after", "after"),
        published_before=bound("published_before", "before"),
        changed_after=bound("changed_after"),
        changed_before=bound("changed_before"),
        after_id=number("after_entry_id"),
        before_id=number("before_entry_id"),
        order=cast(Order, _one_of("order", last.get("order", "published_at"), get_args(Order))),
        oldest_first=_one_of("direction", last.get("direction", "asc"), ("asc", "desc")) == "asc",
        offset=whole("offset", last.get("offset", 0)),
        limit=min(whole("limit", last.get("limit", USUAL_ENTRIES)) or MAX_ENTRIES, MAX_ENTRIES),
    )


def _states(values: Sequence[str]) -> frozenset[str]:
    states = frozenset(filter(None, values))
    for state in states:
        _one_of("status", state, sorted(STATES))
    return states


def _one_of(name: str, value: str, known: Sequence[str]) -> str:
    if value not in known:
        raise BadRequest(f"“{name}” has to be one of {', '.join(known)}.")
    return value


def read_change(body: Mapping[str, Any]) -> tuple[list[int], bool]:
    """The entries to change, and whether they become read.

    >>> read_change({"entry_ids": [3, 4], "status": "read"})
    ([3, 4], True)
    """
    ids, state = body.get("entry_ids"), body.get("status")
    if not isinstance(ids, list) or not ids:
        raise BadRequest("“entry_ids” has to be a list of numbers.")
    if len(ids) > MAX_CHANGED:
        raise BadRequest(f"“entry_ids” names {len(ids):,} entries; at most {MAX_CHANGED:,} can change at once.")
    if state not in ("read", "unread"):
        raise BadRequest("“status” has to be read or unread: entries are not removed here.")
    return [whole("entry_ids", id) for id in ids], state == "read"
