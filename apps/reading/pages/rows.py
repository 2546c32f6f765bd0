"""A posting as lists show it."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AnonymousUser
from django.db.models import CharField, F, QuerySet, Value
from django.db.models.functions import Coalesce, Left, NullIf

from apps.accounts.models import User
from apps.following import queries as following
from apps.postings.models import Posting
from apps.reading.pictures import picture_for
from apps.stories.queries.front import with_story

EXCERPT = 320  # characters


@dataclass(frozen=True, slots=True)
class PostingRow:
    id: int
    url: str
    title: str
    excerpt: str
    language: str
    image_url: str  # to show it from, empty if there is none to show
    source_id: int
    source_title: str
    story_id: int | None  # that it shares with other sources
    published_at: datetime
    unread: bool
    starred: bool

    @property
    def anchor(self) -> str:
        return str(self.id)


def rows(postings: QuerySet[Posting], user: User | AnonymousUser) -> list[PostingRow]:
    """Postings that carry the person's state, in their order; one query that leaves the long texts where they are."""
    own_title = "my_follow__title" if user.is_authenticated else "source__title"
    titles = [NullIf(F(name), Value("")) for name in (own_title, "source__title", "source__url")]
    images = F("my_follow__images") if user.is_authenticated else Value("")
    found = (
        with_story(postings)
        .annotate(
            excerpt=Left("text", EXCERPT),
            source_title=Coalesce(*titles, output_field=CharField()),
            images=Coalesce(images, Value(""), output_field=CharField()),  # the person's choice for the source
        )
        .values(*PostingRow.__dataclass_fields__, "images")
    )
    return [
        PostingRow(**row | {"image_url": picture_for(user, row["image_url"], choice)})
        for row, choice in ((row, row.pop("images")) for row in found)
    ]


def row(posting_id: int, user: User) -> PostingRow | None:
    found = following.with_state(following.readable_by(user).filter(pk=posting_id), user)
    return next(iter(rows(found, user)), None)
