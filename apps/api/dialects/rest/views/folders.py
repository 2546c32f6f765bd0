"""Folders, tags and OPML."""

from django.http import Http404, HttpResponse
from django.utils.timezone import now
from ninja import Router, Status
from pydantic import Field

from apps.accounts.models import User
from apps.accounts.views.requests import PersonsRequest, present
from apps.api.dialects.rest.schemas.base import Schema
from apps.api.dialects.rest.views.parameters import GivenId, Id, Name, RequestBody, answers
from apps.api.dialects.rest.views.problems import Impossible
from apps.api.queries.feeds import sources_by_folder
from apps.following import actions as following_actions
from apps.following import models
from apps.following import queries as following
from apps.retrieval.actions import following as actions
from apps.sources.formats import opml
from apps.web.views.rendering import subscription_file

router = Router(tags=["following"])

OPML_TYPES = ("text/x-opml", "application/xml", "text/xml")


class Folder(Schema):
    id: int
    name: str
    parent_id: int | None
    path: list[str] = Field(description="Names from the outermost folder down to it.")
    unread: int = Field(description="Of the sources in it and below it, each once; muted ones do not count.")


class FolderList(Schema):
    items: list[Folder] = Field(description="In the order in which you sorted them.")


class Tag(Schema):
    id: int
    name: str
    postings: int = Field(validation_alias="amount")


class TagList(Schema):
    items: list[Tag] = Field(description="By name.")


class Imported(Schema):
    """The result of an OPML import."""

    followed: list[int] = Field(description="Sources that you did not follow before.")
    already_followed: int
    skipped: list[str] = Field(description="What was left out, and why.")
    problem: str = Field(description="Where the list is not well-formed, though it could be read.")


class NewFolder(RequestBody):
    name: Name
    parent_id: GivenId | None = None


class FolderChanges(RequestBody):
    """Missing fields stay unchanged."""

    name: Name | None = None
    parent_id: GivenId | None = None


class TagName(RequestBody):
    name: Name


# --- folders ----------------------------------------------------------------------------------------------------------
@router.get("/folders", response=answers(FolderList))
def list_folders(request: PersonsRequest) -> FolderList:
    """All your folders with their unread postings."""
    user = request.user
    folders = list(following.folders_of(user))
    paths, unread = following.folder_paths(folders), following.unread_counts(user)
    within = sources_by_folder(user, folders)
    return FolderList(
        items=[
            Folder(
                id=id,
                name=paths[id][-1],
                parent_id=parent_id,
                path=list(paths[id]),
                unread=sum(unread.get(source_id, 0) for source_id in within[id]),
            )
            for id, parent_id in ((folder.pk, folder.parent_id) for folder in folders)
        ]
    )


@router.post("/folders", response=answers(Folder, 404, 409, status=201))
def create_folder(request: PersonsRequest, data: NewFolder) -> Status[Folder]:
    """Create a folder, or return the existing one of that name and parent."""
    parent = _folder(request.user, data.parent_id) if data.parent_id is not None else None
    made = following_actions.follows.create_folder(request.user, _tidy(data.name), parent)
    return Status(201, read_folder(request, made.pk))


@router.get("/folders/{folder_id}", response=answers(Folder))
def read_folder(request: PersonsRequest, folder_id: Id) -> Folder:
    """One of your folders."""
    found = next((folder for folder in list_folders(request).items if folder.id == folder_id), None)
    return present(found, "You have no such folder.")


@router.patch("/folders/{folder_id}", response=answers(Folder, 409))
def change_folder(request: PersonsRequest, folder_id: Id, data: FolderChanges) -> Folder:
    """Rename a folder, or move it with its contents; `parent_id` null: to the top level."""
    folder = _folder(request.user, folder_id)
    parent = folder.parent
    if "parent_id" in data.model_fields_set:
        parent = _folder(request.user, data.parent_id) if data.parent_id is not None else None
    name = folder.name if data.name is None else _tidy(data.name)
    following_actions.follows.edit_folder(folder, name=name, parent=parent)
    return read_folder(request, folder_id)


@router.delete("/folders/{folder_id}", response=answers(None, status=204))
def delete_folder(request: PersonsRequest, folder_id: Id) -> None:
    """Delete a folder with its subfolders; their sources stay followed."""
    following_actions.follows.delete_folder(_folder(request.user, folder_id))


def _tidy(name: str) -> str:
    name = " ".join(name.split())
    if not name:
        raise Impossible("A folder needs a name.", 422)
    return name


def _folder(user: User, folder_id: int) -> models.Folder:
    return present(following.folder_of(user, folder_id), "You have no such folder.")


# --- tags -------------------------------------------------------------------------------------------------------------
@router.get("/tags", response=answers(TagList))
def list_tags(request: PersonsRequest) -> TagList:
    """All your tags. Tag postings by their marks."""
    return TagList(items=[Tag.model_validate(tag) for tag in following.counted_tags(request.user)])


@router.get("/tags/{tag_id}", response=answers(Tag))
def read_tag(request: PersonsRequest, tag_id: Id) -> Tag:
    """One of your tags."""
    found = following.counted_tags(request.user).filter(pk=tag_id).first()
    return Tag.model_validate(present(found, "You have no such tag."))


@router.patch("/tags/{tag_id}", response=answers(Tag, 409))
def rename_tag(request: PersonsRequest, tag_id: Id, data: TagName) -> Tag:
    """Rename a tag."""
    read_tag(request, tag_id)
    following_actions.marks.rename_tag(request.user, tag_id, data.name)
    return read_tag(request, tag_id)


@router.delete("/tags/{tag_id}", response=answers(None, status=204))
def delete_tag(request: PersonsRequest, tag_id: Id) -> None:
    """Delete a tag, which removes it from all postings."""
    if not following_actions.marks.delete_tag(request.user, tag_id):
        raise Http404("You have no such tag.")


# --- lists ------------------------------------------------------------------------------------------------------------
_OPML = {"type": "string", "format": "binary", "description": "An OPML document."}


@router.get(
    "/opml",
    response=answers(None),
    openapi_extra={"responses": {200: {"description": "OPML 2.0", "content": {OPML_TYPES[0]: {"schema": _OPML}}}}},
)
def export_list(request: PersonsRequest) -> HttpResponse:
    """Your follows as OPML, for other readers."""
    return subscription_file(request.user)


@router.post(
    "/opml",
    response=answers(Imported, 409),
    openapi_extra={"requestBody": {"required": True, "content": {kind: {"schema": _OPML} for kind in OPML_TYPES}}},
)
def import_list(request: PersonsRequest) -> Imported:
    """Follow all sources of an OPML list, in its folders."""
    try:
        document = opml.read(request.body)
    except opml.BrokenOpml as problem:
        raise Impossible(f"The list cannot be read. {problem}", 400) from problem
    report = actions.import_list(request.user, document, now=now())
    return Imported(
        followed=list(report.followed),
        already_followed=report.already_followed,
        skipped=[skipped.reason for skipped in report.skipped],
        problem=report.problem,
    )
