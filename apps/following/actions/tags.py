"""Tags of postings."""

from collections.abc import Collection, Iterable
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.following.actions.errors import NotPossible
from apps.following.models import Tag, Tagging

MAX_TAGS = 500  # of a user
MAX_TAG_LENGTH = 50  # characters


@transaction.atomic
def tag(user: User, posting_ids: Iterable[int], name: str, now: datetime) -> None:
    """Add a tag to postings. Raises NotPossible for an invalid name or too many tags."""
    name = checked_tag(name)
    User.objects.select_for_update().get(pk=user.pk)  # two concurrent tags could exceed the limit
    tags = Tag.objects.filter(user=user)
    if not tags.filter(name=name).exists() and tags.count() >= MAX_TAGS:
        raise NotPossible(_("You can have at most %(number)s tags.") % {"number": MAX_TAGS})
    tag_for_all([(user.pk, name, posting_id) for posting_id in posting_ids], now=now)


def untag(user: User, posting_ids: Iterable[int], name: str) -> None:
    Tagging.objects.filter(tag__user=user, tag__name=_tidy(name), posting_id__in=list(posting_ids)).delete()


@transaction.atomic
def tag_for_all(tagged: Collection[tuple[int, str, int]], *, now: datetime) -> None:
    """Tag postings for many users at once: tuples of user id, checked name and posting id."""
    names = sorted({(user_id, name) for user_id, name, _ in tagged})
    Tag.objects.bulk_create([Tag(user_id=user_id, name=name) for user_id, name in names], ignore_conflicts=True)
    known = Tag.objects.filter(user__in={user_id for user_id, _ in names}, name__in={name for _, name in names})
    tag_ids = {(tag.user_id, tag.name): tag.pk for tag in known}
    pairs = sorted({(tag_ids[user_id, name], posting_id) for user_id, name, posting_id in tagged})
    Tagging.objects.bulk_create(
        [Tagging(tag_id=tag_id, posting_id=posting_id, tagged_at=now) for tag_id, posting_id in pairs],
        ignore_conflicts=True,
    )


def checked_tag(name: str) -> str:
    """A tag's name as it is stored. Raises NotPossible if it is empty or too long."""
    name = _tidy(name)
    if not name:
        raise NotPossible(_("A tag needs a name."))
    if len(name) > MAX_TAG_LENGTH:
        raise NotPossible(_("A tag's name can have at most %(number)s characters.") % {"number": MAX_TAG_LENGTH})
    return name


def _tidy(name: str) -> str:
    return " ".join(name.replace("\0", "").split())


@transaction.atomic
def rename_tag(user: User, tag_id: int, name: str) -> bool:
    """Rename a tag of the user; False if it does not exist. Raises NotPossible if the name is invalid or taken."""
    name = checked_tag(name)
    User.objects.select_for_update().get(pk=user.pk)  # a new tag could take the name in between
    if Tag.objects.filter(user=user, name=name).exclude(pk=tag_id).exists():
        raise NotPossible(_("A tag named “%(name)s” already exists; you can merge the two.") % {"name": name})
    return Tag.objects.filter(user=user, pk=tag_id).update(name=name) > 0


@transaction.atomic
def merge_tags(user: User, tag_id: int, into_id: int) -> bool:
    """Move the postings of one tag to another and delete it; False if these are not two tags of the user."""
    theirs = Tag.objects.select_for_update().filter(user=user, pk__in=[tag_id, into_id]).order_by("pk")
    if len(theirs) < 2:
        return False
    moved = Tagging.objects.filter(tag_id=tag_id).order_by("posting_id")
    Tagging.objects.bulk_create(
        [Tagging(tag_id=into_id, posting_id=old.posting_id, tagged_at=old.tagged_at) for old in moved],
        ignore_conflicts=True,
        batch_size=1_000,
    )
    Tag.objects.filter(pk=tag_id).delete()
    return True


def delete_tag(user: User, tag_id: int) -> bool:
    """Delete a tag with its taggings; False if it does not exist."""
    deleted, _by_model = Tag.objects.filter(user=user, pk=tag_id).delete()
    return deleted > 0
