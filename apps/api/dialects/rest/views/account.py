"""The user of the token."""

from typing import Literal

from ninja import Router
from pydantic import BaseModel, Field

from apps.accounts.models import AppToken
from apps.accounts.views.requests import PersonsRequest
from apps.api.dialects.rest.views.parameters import answers
from apps.api.views.access import token_of

router = Router(tags=["account"])


class Account(BaseModel):
    id: int
    username: str
    is_staff: bool
    language: str = Field(description="Of the interface; empty: the browser's.")
    time_zone: str = Field(description="Empty: the portal's own.")
    order: Literal["newest", "oldest"] = Field(description="Of lists, as you prefer it.")
    unread_only: bool = Field(description="Lists leave out what has been read.")
    token: str = Field(description="Its name.")
    scopes: list[AppToken.Scope] = Field(description="What it allows.")


@router.get("/me", response=answers(Account))
def read_account(request: PersonsRequest) -> Account:
    """The user and the scopes of your token."""
    person, token = request.user, token_of(request)
    return Account(
        **{name: getattr(person, name) for name in Account.model_fields.keys() - {"token", "scopes"}},
        token=token.name,
        scopes=[AppToken.Scope(scope) for scope in token.scopes],
    )
