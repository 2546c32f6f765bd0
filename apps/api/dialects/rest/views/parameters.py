"""What requests may hold: numbers, texts and pages within their limits."""

from typing import Annotated, Any

from annotated_types import Len
from ninja import Query
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from apps.api.dialects.rest.schemas.base import MAX_ID
from apps.api.dialects.rest.views.problems import Problem

MAX_CURSOR_LENGTH = 2_000  # characters
MAX_AT_ONCE = 200  # rows of a page
MAX_POSTINGS = 1_000  # marked at once
_STORABLE = r"^[^\x00]*$"  # a database takes no NUL

Id = Annotated[int, Field(ge=1, le=MAX_ID)]
GivenId = Annotated[int, Field(strict=True, ge=1, le=MAX_ID)]  # in JSON, where "1" and true are no numbers
GivenIds = Annotated[list[GivenId], Len(1, MAX_POSTINGS)]
Truth = Annotated[bool, Field(strict=True)]
Short = Annotated[str, StringConstraints(max_length=100, pattern=_STORABLE)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=_STORABLE)]
Words = Annotated[str, StringConstraints(max_length=1_000, pattern=_STORABLE)]
Text = Annotated[str, StringConstraints(max_length=10_000, pattern=_STORABLE)]


class RequestBody(BaseModel):
    """A body. A name that it does not know is a mistake, not a wish that may be passed over."""

    model_config = ConfigDict(extra="forbid")


class Part(BaseModel):
    """Which part of a list is asked for."""

    cursor: str = Field("", max_length=MAX_CURSOR_LENGTH, description="`next` of the page before; empty for the first.")
    limit: int = Field(50, ge=1, le=MAX_AT_ONCE, description="Rows of a page, at most.")


PartOf = Annotated[Part, Query()]


def answers(model: Any, *problems: int, status: int = 200) -> dict[int, Any]:
    """The answers of an operation: what it gives, and the problems that are not those of all operations."""
    return {status: model, **dict.fromkeys(problems, Problem)}
