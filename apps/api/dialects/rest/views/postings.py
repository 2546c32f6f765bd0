"""Postings, and what people do with them."""

from typing import Annotated, Literal

from django.http import Http404
from django.utils.timezone import now
from ninja import Query, Router
from pydantic import AwareDatetime, BaseModel, Field

from apps.accounts.models import User
from apps.accounts.views.requests import PersonsRequest, present
from apps.api.dialects.rest import actions
from apps.api.dialects.rest.schemas.postings import PostingDetails, PostingList, posting_details, posting_list
from apps.api.dialects.rest.schemas.summaries import Summary, summary_of
from apps.api.dialects.rest.views.parameters import GivenId, GivenIds, Id, Name, Part, RequestBody, Text, Truth, answers
from apps.api.dialects.rest.views.problems import Impossible
from apps.following import actions as following_actions
from apps.following import queries as following
from apps.following.queries import Kind, Scope

router = Router(tags=["postings"])

MAX_TAGS = 20  # named in a request


class Chosen(BaseModel):
    """One list at most; none of them: all that you follow."""

    source_id: Id | None = None
    folder_id: Id | None = Field(None, description="With the folders below it.")
    tag_id: Id | None = None
    starred: bool = False

    def scope(self, user: User) -> Scope:
        named: dict[Kind, int | None] = {"source": self.source_id, "folder": self.folder_id, "tag": self.tag_id}
        given = [(kind, number) for kind, number in named.items() if number is not None]
        if len(given) + self.starred > 1:
            raise Impossible("Name one list at most: a source, a folder, a tag, or what is starred.", 422)
        if self.starred:
            return Scope("starred")
        if not given:
            return Scope("all")
        return _known(user, Scope(*given[0]))


def _known(user: User, scope: Scope) -> Scope:
    """A list that is there for the person."""
    match scope.kind:
        case "source":
            is_there = following.visible_sources(user).filter(pk=scope.id).exists()
        case "folder":
            is_there = following.folder_of(user, scope.id) is not None
        case _:
            is_there = following.tag_of(user, scope.id) is not None
    if not is_there:
        raise Http404(f"There is no such {scope.kind}.")
    return scope


class ListPart(Chosen, Part):
    unread: bool = Field(False, description="Only what you have not read.")
    order: Literal["newest", "oldest"] = "newest"
    content: bool = Field(False, description="With `html`.")


class Marks(RequestBody):
    """What is not named stays as it is."""

    read: Truth | None = None
    starred: Truth | None = None
    add_tags: list[Name] = Field([], max_length=MAX_TAGS)
    remove_tags: list[Name] = Field([], max_length=MAX_TAGS)

    def made(self) -> actions.Marks:
        return actions.Marks(self.read, self.starred, self.add_tags, self.remove_tags)


class MarksOfMany(Marks):
    posting_ids: GivenIds


class Marked(BaseModel):
    posting_ids: list[int] = Field(description="Those of them that are there for you.")


class WholeList(RequestBody, Chosen):
    source_id: GivenId | None = None
    folder_id: GivenId | None = Field(None, description="With the folders below it.")
    tag_id: GivenId | None = None
    starred: Truth = False
    shown_at: AwareDatetime = Field(description="What came later stays unread: `shown_at` of the list as you saw it.")
    before: AwareDatetime | None = Field(None, description="Only what was published earlier.")


class MarkedList(BaseModel):
    count: int = Field(description="Postings that became read.")
    undo_id: int | None = Field(description="By which it can be undone for a day; null if nothing became read.")


class Undo(RequestBody):
    undo_id: GivenId


class Unmarked(BaseModel):
    count: int = Field(description="Postings that are unread again; 0 where there is nothing to undo any more.")


class NoteText(RequestBody):
    text: Text = Field(description="Nothing but spaces: the note is deleted.")


@router.get("/postings", response=answers(PostingList, 404))
def list_postings(request: PersonsRequest, asked: Annotated[ListPart, Query()]) -> PostingList:
    """A list: of all that you follow, or of a source, a folder, a tag, or what is starred."""
    return posting_list(
        request.user,
        asked.scope(request.user),
        unread_only=asked.unread,
        oldest_first=asked.order == "oldest",
        with_html=asked.content,
        cursor=asked.cursor,
        limit=asked.limit,
        now=now(),
    )


@router.post("/postings/marks", response=answers(Marked, 409))
def mark_postings(request: PersonsRequest, wish: MarksOfMany) -> Marked:
    """Mark many: read, starred, tagged. What is not there for you is left out."""
    return Marked(posting_ids=actions.mark(request.user, wish.posting_ids, wish.made(), now=now()))


@router.post("/postings/read", response=answers(MarkedList, 404))
def mark_list_read(request: PersonsRequest, wish: WholeList) -> MarkedList:
    """Mark a whole list read, as it was when you saw it."""
    marked = following_actions.mark_all_read(
        request.user, wish.scope(request.user), shown_at=wish.shown_at, now=now(), before=wish.before
    )
    return MarkedList(count=marked.count, undo_id=marked.undo)


@router.post("/postings/read/undo", response=answers(Unmarked))
def undo_mark_list_read(request: PersonsRequest, wish: Undo) -> Unmarked:
    """Let be unread again what became read with its list."""
    return Unmarked(count=following_actions.undo_mark_all(request.user, wish.undo_id, now=now()))


@router.get("/postings/{posting_id}", response=answers(PostingDetails))
def read_posting(request: PersonsRequest, posting_id: Id) -> PostingDetails:
    """A posting whole. It does not become read by this."""
    return _found(request.user, posting_id)


def _found(user: User, posting_id: int) -> PostingDetails:
    return present(posting_details(user, posting_id), "There is no such posting.")


@router.patch("/postings/{posting_id}", response=answers(PostingDetails, 409))
def mark_posting(request: PersonsRequest, posting_id: Id, wish: Marks) -> PostingDetails:
    """Mark a posting: read, starred, tagged."""
    if not actions.mark(request.user, [posting_id], wish.made(), now=now()):
        raise Http404("There is no such posting.")
    return _found(request.user, posting_id)


@router.put("/postings/{posting_id}/note", response=answers(PostingDetails, 409))
def write_note(request: PersonsRequest, posting_id: Id, wish: NoteText) -> PostingDetails:
    """Keep what you write about a posting, in place of what you wrote before."""
    _require(request.user, posting_id)
    following_actions.write_note(request.user, posting_id, wish.text, now=now())
    return _found(request.user, posting_id)


@router.delete("/postings/{posting_id}/note", response=answers(None, status=204))
def delete_note(request: PersonsRequest, posting_id: Id) -> None:
    """Delete your note on a posting, if there is one."""
    _require(request.user, posting_id)
    following_actions.delete_note(request.user, posting_id)


def _require(user: User, posting_id: int) -> None:
    if not following.readable_by(user).filter(pk=posting_id).exists():
        raise Http404("There is no such posting.")


class Shortened(BaseModel):
    percent: int | None = Field(None, ge=1, le=100, description="Of the text; the nearest step is given.")


@router.get("/postings/{posting_id}/summary", response=answers(Summary))
def summarise_posting(request: PersonsRequest, posting_id: Id, asked: Annotated[Shortened, Query()]) -> Summary:
    """A posting said shorter: its best sentences, and the words that tell it from others."""
    return present(summary_of(request.user, posting_id, asked.percent), "There is no such posting.")
