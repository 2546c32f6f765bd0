"""Postings and their marks, notes and summaries."""

from datetime import datetime
from typing import Annotated, Literal

from django.http import Http404
from django.utils.timezone import now
from ninja import Query, Router
from pydantic import AwareDatetime, BaseModel, Field, StringConstraints

from apps.accounts.models import User
from apps.accounts.views.requests import PersonsRequest, present
from apps.api.actions import marking
from apps.api.dialects.rest.schemas.base import Schema, cut, place_in, place_of
from apps.api.dialects.rest.schemas.postings import PostingDetails, PostingList, posting_details, posting_list
from apps.api.dialects.rest.views.parameters import (
    GivenId,
    GivenIds,
    Id,
    Name,
    Part,
    RequestBody,
    Text,
    Truth,
    Words,
    answers,
)
from apps.api.dialects.rest.views.problems import Impossible
from apps.api.formats.parameters import WITHOUT_NUL
from apps.following import actions as following_actions
from apps.following import queries as following
from apps.following.algorithms.passages import Passage
from apps.following.queries import Kind, Scope
from apps.web.pages.summaries import summary_of_posting
from apps.web.views.rendering import require_readable

router = Router(tags=["postings"])

MAX_TAGS = 20  # named in a request


class Chosen(BaseModel):
    """At most one list; none: all follows."""

    source_id: Id | None = None
    folder_id: Id | None = Field(None, description="With its subfolders.")
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
    """The list, if it exists for the user."""
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
    unread: bool = Field(False, description="Only unread postings.")
    order: Literal["newest", "oldest"] = "newest"
    content: bool = Field(False, description="With `html`.")


class Marks(RequestBody):
    """Missing fields stay unchanged."""

    read: Truth | None = None
    starred: Truth | None = None
    add_tags: list[Name] = Field([], max_length=MAX_TAGS)
    remove_tags: list[Name] = Field([], max_length=MAX_TAGS)


class MarksOfMany(Marks):
    posting_ids: GivenIds


class Marked(BaseModel):
    posting_ids: list[int] = Field(description="Those that you can read.")


class WholeList(RequestBody, Chosen):
    source_id: GivenId | None = None
    folder_id: GivenId | None = Field(None, description="With its subfolders.")
    tag_id: GivenId | None = None
    starred: Truth = False
    shown_at: AwareDatetime = Field(description="`shown_at` of the list as you saw it; later arrivals stay unread.")
    before: AwareDatetime | None = Field(None, description="Only what was published earlier.")


class MarkedList(BaseModel):
    count: int = Field(description="Articles that became read.")
    undo_id: int | None = Field(description="For undoing it within a day; null if nothing became read.")


class Undo(RequestBody):
    undo_id: GivenId


class Unmarked(BaseModel):
    count: int = Field(description="Articles that are unread again; 0 if there is nothing to undo.")


class NoteText(RequestBody):
    text: Text = Field(description="If empty, the note is deleted.")


@router.get("/postings", response=answers(PostingList, 404))
def list_postings(request: PersonsRequest, params: Annotated[ListPart, Query()]) -> PostingList:
    """All postings of your follows, or those of a source, a folder, a tag, or starred ones."""
    return posting_list(
        request.user,
        params.scope(request.user),
        unread_only=params.unread,
        oldest_first=params.order == "oldest",
        with_html=params.content,
        cursor=params.cursor,
        limit=params.limit,
        now=now(),
    )


@router.post("/postings/marks", response=answers(Marked, 409))
def mark_postings(request: PersonsRequest, data: MarksOfMany) -> Marked:
    """Mark many postings: read, starred, tagged. Unreadable ones are skipped."""
    return Marked(posting_ids=marking.mark_and_tag(request.user, **data.model_dump(), now=now()))


@router.post("/postings/read", response=answers(MarkedList, 404))
def mark_list_read(request: PersonsRequest, data: WholeList) -> MarkedList:
    """Mark a list read, as it was when you saw it."""
    marked = following_actions.marking.mark_all_read(
        request.user, data.scope(request.user), shown_at=data.shown_at, now=now(), before=data.before
    )
    return MarkedList(count=marked.count, undo_id=marked.undo)


@router.post("/postings/read/undo", response=answers(Unmarked))
def undo_mark_list_read(request: PersonsRequest, data: Undo) -> Unmarked:
    """Undo marking a list read."""
    return Unmarked(count=following_actions.marking.undo_mark_all(request.user, data.undo_id, now=now()))


@router.get("/postings/{posting_id}", response=answers(PostingDetails))
def read_posting(request: PersonsRequest, posting_id: Id) -> PostingDetails:
    """A posting in full. It stays unread."""
    return present(posting_details(request.user, posting_id), "There is no such posting.")


@router.patch("/postings/{posting_id}", response=answers(PostingDetails, 409))
def mark_posting(request: PersonsRequest, posting_id: Id, data: Marks) -> PostingDetails:
    """Mark a posting: read, starred, tagged."""
    if not marking.mark_and_tag(request.user, [posting_id], **data.model_dump(), now=now()):
        raise Http404("There is no such posting.")
    return read_posting(request, posting_id)


@router.put("/postings/{posting_id}/note", response=answers(PostingDetails, 409))
def write_note(request: PersonsRequest, posting_id: Id, data: NoteText) -> PostingDetails:
    """Store or replace your note on a posting."""
    require_readable(request.user, posting_id)
    following_actions.marks.write_note(request.user, posting_id, data.text, now=now())
    return read_posting(request, posting_id)


@router.delete("/postings/{posting_id}/note", response=answers(None, status=204))
def delete_note(request: PersonsRequest, posting_id: Id) -> None:
    """Delete your note on a posting."""
    require_readable(request.user, posting_id)
    following_actions.marks.delete_note(request.user, posting_id)


class Highlight(Schema):
    id: int
    posting_id: int
    quote: str
    prefix: str = Field(description="What precedes the passage, by which it is found again after edits.")
    suffix: str
    note: str
    made_at: datetime


class HighlightList(Schema):
    items: list[Highlight]
    next: str | None


class Highlights(Part):
    q: Words = Field("", description="Only those with each of these words in passage or note.")


class NewHighlight(RequestBody):
    quote: Annotated[str, StringConstraints(min_length=1, max_length=5_000, pattern=WITHOUT_NUL)]
    prefix: Words = ""
    suffix: Words = ""
    note: Text = ""


@router.get("/highlights", response=answers(HighlightList))
def list_highlights(request: PersonsRequest, params: Annotated[Highlights, Query()]) -> HighlightList:
    """Your highlighted passages, the latest first."""
    found = following.highlights_of(request.user, params.q)
    if params.cursor:
        [last] = place_in(params.cursor, int)
        found = found.filter(pk__lt=last)
    shown, last_shown = cut(list(found[: params.limit + 1]), params.limit)
    items = [Highlight.model_validate(each) for each in shown]
    return HighlightList(items=items, next=place_of(last_shown.pk) if last_shown else None)


@router.post("/postings/{posting_id}/highlights", response=answers(Highlight, 409))
def highlight_passage(request: PersonsRequest, posting_id: Id, data: NewHighlight) -> Highlight:
    """Highlight a passage of a posting. One that is highlighted gets the note."""
    found = following.readable_by(request.user).filter(pk=posting_id).first()
    posting = present(found, "There is no such posting.")
    passage = Passage(data.quote, data.prefix, data.suffix)
    made = following_actions.highlights.highlight(request.user, posting, passage, note=data.note, now=now())
    return Highlight.model_validate(made)


@router.delete("/highlights/{highlight_id}", response=answers(None, status=204))
def delete_highlight(request: PersonsRequest, highlight_id: Id) -> None:
    """Remove a highlight with its note."""
    if not following_actions.highlights.forget_highlight(request.user, highlight_id):
        raise Http404("You have no such highlight.")


class Summary(Schema):
    posting_id: int
    language: str
    teaser: str = Field(description="The publisher's own; empty without one.")
    sentences: list[str] = Field(description="None for a short text.")
    percent: int = Field(description="Their part of the text; 0 without any.")
    steps: list[int] = Field(description="Values of `percent` to choose from.")
    words: list[str] = Field(description="Keywords, the most important first.")


class Shortened(BaseModel):
    percent: int | None = Field(
        None, ge=1, le=100, description="Of the text; rounded to a step. By default 3-5 sentences."
    )


@router.get("/postings/{posting_id}/summary", response=answers(Summary))
def summarise_posting(request: PersonsRequest, posting_id: Id, params: Annotated[Shortened, Query()]) -> Summary:
    """The summary of a posting: its best sentences, and its keywords."""
    found = present(summary_of_posting(request.user, posting_id, params.percent), "There is no such posting.")
    return Summary(**found | {"words": [word["label"] for word in found["words"]]})
