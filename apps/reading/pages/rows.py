"""A posting as lists show it."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AnonymousUser
from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.db.models import CharField, F, OuterRef, QuerySet, TextField, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Left, Length, NullIf

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.models import Tagging
from apps.postings.models import Posting
from apps.reading.algorithms.addresses import picture_address, web_address
from apps.reading.pictures import picture_for
from apps.stories.queries.front import with_story
from apps.summaries.algorithms.reading_time import reading_minutes

EXCERPT = 320  # characters


@dataclass(frozen=True, slots=True)
class PostingRow:
    id: int
    url: str  # empty if it leads to no page of the web
    title: str
    excerpt: str
    characters: int  # of the whole text
    language: str
    image_url: str  # to show it from, empty if there is none to show
    source_id: int
    source_title: str
    story_id: int | None  # that it shares with other sources
    published_at: datetime
    unread: bool
    starred: bool
    own_tags: tuple[str, ...]  # the person's own on it, by name

    @property
    def anchor(self) -> str:
        return str(self.id)

    @property
    def is_cut(self) -> bool:
        """Whether the text goes on behind the excerpt."""
        return self.characters > len(self.excerpt)

    @property
    def minutes(self) -> int:
        """To read it whole."""
        return reading_minutes(self.excerpt, self.characters)


def rows(postings: QuerySet[Posting], user: User | AnonymousUser) -> list[PostingRow]:
    """Postings that carry the person's state, in their order; one query that leaves the long texts where they are."""
    own_title = "my_follow__title" if user.is_authenticated else "source__title"
    titles = [NullIf(F(name), Value("")) for name in (own_title, "source__title", "source__url")]
    images = F("my_follow__images") if user.is_authenticated else Value("")
    found = (
        with_story(postings)
        .annotate(
            excerpt=Left("text", EXCERPT),
            characters=Length("text"),
            source_title=Coalesce(*titles, output_field=CharField()),
            own_tags=_own_tags(user),
            images=Coalesce(images, Value(""), output_field=CharField()),  # the person's choice for the source
        )
        .values(*PostingRow.__dataclass_fields__, "images")
    )
    return [
        PostingRow(
            **row
            | {
                "url": web_address(row["url"]),
                "image_url": picture_for(user, picture_address(row["image_url"]), choice),
                "own_tags": tuple(row["own_tags"]),
            }
        )
        for row, choice in ((row, row.pop("images")) for row in found)
    ]


def _own_tags(user: User | AnonymousUser) -> Combinable:
    if not user.is_authenticated:
        return Value([], output_field=ArrayField(TextField()))
    theirs = Tagging.objects.filter(tag__user=user, posting=OuterRef("pk"))
    return ArraySubquery(theirs.order_by("tag__name").values("tag__name"))


def row(posting_id: int, user: User) -> PostingRow | None:
    found = following.with_state(following.readable_by(user).filter(pk=posting_id), user)
    return next(iter(rows(found, user)), None)
