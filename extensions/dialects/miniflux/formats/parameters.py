"""Parameters of Miniflux' API: filters and changes of entries, feeds and categories."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    AliasChoices,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)
from pydantic import StringConstraints as Text

from apps.api.formats.parameters import WITHOUT_NUL, BadRequest
from apps.sources.algorithms.addresses import MAX_ADDRESS_LENGTH
from apps.web.algorithms.numbers import MAX_NUMBER

MAX_ENTRIES = 1_000  # per response
USUAL_ENTRIES = 100
MAX_CHANGED = 10_000  # entries, by one request
MAX_SEARCH_LENGTH = 1_000  # characters
MAX_TITLE_LENGTH = 1_000  # characters

Number = Annotated[int, Field(ge=0, le=MAX_NUMBER)]
Address = Annotated[str, Text(strip_whitespace=True, max_length=MAX_ADDRESS_LENGTH, pattern=WITHOUT_NUL)]
Title = Annotated[str, Text(strip_whitespace=True, max_length=MAX_TITLE_LENGTH, pattern=WITHOUT_NUL)]
_ZERO_IS_NONE = BeforeValidator(lambda value: None if value == "0" else value)
Id = Annotated[Number | None, _ZERO_IS_NONE]
Bound = Annotated[AwareDatetime | None, _ZERO_IS_NONE]
Model = TypeVar("Model", bound=BaseModel)


def valid(kind: type[Model], values: Mapping[str, Any] | bytes) -> Model:
    """Parameters, or a body with a JSON object, as a model. An empty body is an empty object.

    >>> class Page(BaseModel):
    ...     limit: int
    >>> valid(Page, {"limit": "20"}), valid(Page, b'{"limit": 7}')
    (Page(limit=20), Page(limit=7))
    """
    try:
        if isinstance(values, bytes):
            return kind.model_validate_json(values.strip() or b"{}")
        return kind.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise BadRequest(f"“{place}”: {first['msg']}." if place else f"{first['msg']}.") from error


# --- filters ----------------------------------------------------------------------------------------------------------
class EntryFilter(BaseModel):
    """Filter, order and page of a list of entries. None or empty: no filter."""

    model_config = ConfigDict(frozen=True)

    states: frozenset[Literal["read", "unread", "removed"]] = Field(frozenset(), alias="status")
    starred: bool | None = None
    feed_id: Id = None
    category_id: Id = None
    search: Annotated[str, Text(strip_whitespace=True, max_length=MAX_SEARCH_LENGTH, pattern=WITHOUT_NUL)] = ""
    published_after: Bound = Field(None, validation_alias=AliasChoices("published_after", "after"))
    published_before: Bound = Field(None, validation_alias=AliasChoices("published_before", "before"))
    changed_after: Bound = None
    changed_before: Bound = None
    after_id: Id = Field(None, alias="after_entry_id")
    before_id: Id = Field(None, alias="before_entry_id")
    order: Literal["published_at", "id", "status", "changed_at", "created_at", "title", "author"] = "published_at"
    direction: Literal["asc", "desc"] = "asc"
    offset: Number = 0
    limit: Annotated[Number, AfterValidator(lambda limit: min(limit or MAX_ENTRIES, MAX_ENTRIES))] = USUAL_ENTRIES

    @property
    def oldest_first(self) -> bool:
        return self.direction == "asc"

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
    return valid(EntryFilter, last | {"status": frozenset(filter(None, query.get("status", ())))})


# --- bodies -----------------------------------------------------------------------------------------------------------
class EntryChanges(BaseModel):
    entry_ids: list[Annotated[Number, Field(strict=True)]] = Field(min_length=1, max_length=MAX_CHANGED)
    status: Literal["read", "unread"]  # entries are not removed here


class Progress(BaseModel):
    media_progression: Number  # s


class Lookup(BaseModel):
    url: Address


class NewFeed(BaseModel):
    feed_url: Address
    category_id: Number | None = None


class FeedChanges(BaseModel):
    """Programs also send back what they do not change."""

    title: Title | None = None
    category_id: Number | None = None
    hide_globally: bool | None = None
    crawler: bool | None = None
    disabled: bool | None = None
    feed_url: object = None
    site_url: object = None
    description: object = None


class CategoryTitle(BaseModel):
    title: Title = Field(min_length=1)
