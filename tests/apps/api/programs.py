"""Programs that act for users, and users with every kind of object of the API."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.test import Client
from django.utils import timezone

from apps.accounts.actions import make_token
from apps.accounts.models import User
from apps.alerts.actions.rules import set_rule
from apps.alerts.models import Attempt, Hit, Message
from apps.following.actions.marking import mark_all_read
from apps.following.actions.marks import mark_read, star, tag, write_note
from apps.following.models import Folder, Highlight, Tag
from apps.following.queries import Scope
from apps.postings.models import Posting
from apps.search.actions.saved import save_search
from apps.search.models import SavedSearch
from apps.sources.models import Source
from apps.stories.models import Member, Story
from apps.trending.models import Trend
from tests.builders import (
    a_folder,
    a_follow,
    a_posting,
    a_profile,
    a_retrieval,
    a_schedule,
    a_source,
    a_user,
    an_edition,
)


class Program:
    """Speaks our own interface with a token of a person's."""

    def __init__(self, person: User, *scopes: str) -> None:
        self.person = person
        self.secret = make_token(person, "program", scopes or ["read", "write"], now=timezone.now())[1]
        self._client = Client()

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        kind: str = "application/json",
        **headers: str,
    ):
        """A path below our own interface, unless it begins with a slash; a body is sent as JSON, unless it is bytes."""
        return self._client.generic(
            method.upper(),
            path if path.startswith("/") else f"/api/v1/{path}",
            b"" if body is None else body if isinstance(body, bytes) else json.dumps(body),
            content_type=kind,
            query_params=dict(query) if query else None,
            headers={"authorization": f"Bearer {self.secret}"} | headers,
        )

    def get(self, path: str, **query: Any):
        return self.request("GET", path, query=query)

    def post(self, path: str, body: Any = None):
        return self.request("POST", path, body)

    def patch(self, path: str, body: Any):
        return self.request("PATCH", path, body)

    def put(self, path: str, body: Any):
        return self.request("PUT", path, body)

    def delete(self, path: str):
        return self.request("DELETE", path)


@dataclass(frozen=True, slots=True)
class UserData:
    """A person and one of everything of theirs."""

    person: User
    folder_id: int
    other_folder_id: int
    tag_id: int
    source: Source  # private, with this follower alone
    posting: Posting  # of it
    former_posting: Posting  # of another such source that they follow no longer; starred
    search: SavedSearch
    hit_id: int
    message_id: int
    story_id: int
    undo_id: int
    highlight_id: int


def a_person_with_everything(name: str, size: int = 1) -> UserData:
    """Whatever they wrote, or only they may read, says their name; of lists there are `size` rows each."""
    person, now = a_user(name, email=f"{name.lower()}@example.org"), timezone.now()
    folder = a_folder(person, f"{name} folder")
    inner = a_folder(person, f"{name} inner", folder)
    sources = [_a_private_source(person, name, inner) for _ in range(size + 1)]
    postings = [_a_posting(source, name, minutes) for source in sources for minutes in range(size)]
    starred = _a_posting(a_source(title=f"{name} former", url=f"https://{name.lower()}.example/former"), name, 5)
    posting = postings[0]
    star(person, starred.pk, starred=True, now=now)
    for number in range(size):
        tag(person, [each.pk for each in postings], f"{name} tag {number}", now)
        a_folder(person, f"{name} folder {number}")
    write_note(person, posting.pk, f"{name} wrote this", now=now)
    highlight = Highlight.objects.create(
        user=person, posting=posting, quote=f"{name} wrote", note=f"{name} wrote this, too", made_at=now
    )
    an_edition(posting, title=f"{name} edition")
    mark_read(person, [posting.pk], read=True, now=now)
    searches = [_a_search(person, f"{name} search {number}", postings[: size * 2]) for number in range(size)]
    messages = [_a_message(person, searches[0]) for _ in range(size)]
    story = _a_story(postings)
    for number in range(size):
        _a_trend(number + 1, [posting.pk])
    marked = mark_all_read(person, Scope("source", sources[-1].pk), shown_at=now, now=now)
    assert marked.undo is not None
    return UserData(
        person=person,
        folder_id=folder.pk,
        other_folder_id=Folder.objects.get(user=person, name=f"{name} folder 0").pk,
        tag_id=Tag.objects.filter(user=person).earliest("pk").pk,
        source=sources[0],
        posting=posting,
        former_posting=starred,
        search=searches[0],
        hit_id=Hit.objects.filter(saved=searches[0]).earliest("pk").pk,
        message_id=messages[0].pk,
        story_id=story.pk,
        undo_id=marked.undo,
        highlight_id=highlight.pk,
    )


def _a_private_source(person: User, name: str, folder: Any) -> Source:
    source = a_source(title=f"{name} source", url=f"https://{name.lower()}.example/{uuid4()}")
    a_follow(person, source, folders=(folder,), title=f"{name} calls it so", unread_from=_long_ago())
    a_schedule(source, due_at=timezone.now() + timedelta(hours=1), observed_at=timezone.now() - timedelta(hours=1))
    a_profile(source)
    a_retrieval(source, fetched_at=timezone.now() - timedelta(hours=1), dated=1, delay_seconds=60.0)
    return source


def _long_ago():
    return timezone.now() - timedelta(days=3_000)


def _a_posting(source: Source, name: str, minutes: int) -> Posting:
    return a_posting(
        source,
        title=f"{name} reads this",
        html=f"<p>{name} alone may read this.</p>",
        text=f"{name} alone may read this.",
        enclosures=[{"url": f"https://{name.lower()}.example/1.mp3", "media_type": "audio/mpeg", "length": 7}],
        categories=[f"{name} category"],
        language="en",
        published_at=timezone.now() - timedelta(hours=2, minutes=minutes),
    )


def _a_search(person: User, name: str, found: list[Posting]) -> SavedSearch:
    saved = save_search(person, name, f"{name} OR paris", order=SavedSearch.Order.NEWEST, now=timezone.now())
    set_rule(person, saved.pk, mark_read=True, tag=f"{name} tag")
    for posting in found:
        Hit.objects.create(
            saved=saved,
            posting=posting,
            source_id=posting.source_id,
            published_at=posting.published_at,
            retrieved_at=posting.retrieved_at,
            found_at=timezone.now(),
        )
    return saved


def _a_message(person: User, saved: SavedSearch) -> Message:
    now = timezone.now()
    message = Message.objects.create(
        key=uuid4(), user=person, channel="mail", saved=saved, hits=[], created_at=now, due_at=now,
        error=f"{person.username} could not be result",
    )  # fmt: skip
    Attempt.objects.create(message=message, at=now, took=0.1, status=550, error=f"{person.username} is not there")
    return message


def _a_story(postings: list[Posting]) -> Story:
    """Made of postings that no other user can read."""
    story = Story.objects.create(
        id=postings[0].pk,
        lead_id=postings[0].pk,
        language="en",
        reports=len(postings),
        copies=0,
        sources=len({posting.source_id for posting in postings}),
        first_at=min(posting.published_at for posting in postings),
        latest_at=max(posting.published_at for posting in postings),
    )
    for posting in postings:
        Member.objects.create(
            posting_id=posting.pk,
            story_id=story.pk,
            source_id=posting.source_id,
            published_at=posting.published_at,
            text_hash=bytes(16),
            fingerprint=b"",
            terms=bytes(4),
            weights=b"\x00\x00\x80?",  # 1.0: they are related
        )
    return story


def _a_trend(rank: int, posting_ids: list[int]) -> None:
    """Lists are the same for everybody; the postings that they name are not."""
    now, list_of = timezone.now(), {"language": "en", "category": "", "horizon": "day", "method": "ours"}
    trend, _is_new = Trend.objects.get_or_create(
        **list_of,
        rank=rank,
        defaults={
            "number": rank, "term": f"paris {rank}", "score": 9.0, "documents": 5, "expected": 1.0, "sources": 2,
            "related": ["rome"], "curve": [1, 2, 5], "posting_ids": [], "listed_at": now, "since": now,
        },
    )  # fmt: skip
    trend.posting_ids += posting_ids
    trend.save()
