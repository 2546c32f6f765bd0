"""Types of parameters and bodies, with their limits."""

from typing import Annotated, Any

from annotated_types import Len
from ninja import Query
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from apps.api.dialects.rest.views.problems import Problem
from apps.api.formats.parameters import WITHOUT_NUL
from apps.database.statements import MAX_ID

MAX_CURSOR_LENGTH = 2_000  # characters
MAX_AT_ONCE = 200  # rows per page
MAX_POSTINGS = 1_000  # marked at once

Id = Annotated[int, Field(ge=1, le=MAX_ID)]
GivenId = Annotated[int, Field(strict=True, ge=1, le=MAX_ID)]  # in JSON, neither "1" nor true
GivenIds = Annotated[list[GivenId], Len(1, MAX_POSTINGS)]
Truth = Annotated[bool, Field(strict=True)]
Short = Annotated[str, StringConstraints(max_length=100, pattern=WITHOUT_NUL)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=WITHOUT_NUL)]
Words = Annotated[str, StringConstraints(max_length=1_000, pattern=WITHOUT_NUL)]
Text = Annotated[str, StringConstraints(max_length=10_000, pattern=WITHOUT_NUL)]


class RequestBody(BaseModel):
    """A body. Unknown names are errors."""

    model_config = ConfigDict(extra="forbid")


class Part(BaseModel):
    """A page of a list."""

    cursor: str = Field("", max_length=MAX_CURSOR_LENGTH, description="`next` of the page before; empty for the first.")
    limit: int = Field(50, ge=1, le=MAX_AT_ONCE, description="Rows of a page, at most.")


PartOf = Annotated[Part, Query()]


def answers(model: Any, *problems: int, status: int = 200) -> dict[int, Any]:
    """The responses of an operation: its result, and its own problems in addition to those of all operations."""
    return {status: model, **dict.fromkeys(problems, Problem)}
