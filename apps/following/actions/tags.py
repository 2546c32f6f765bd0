"""A person's words for postings."""

from collections.abc import Collection, Iterable
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.following.actions.errors import NotPossible
from apps.following.models import Tag, Tagging

MAX_TAGS = 500  # of a person
MAX_TAG_LENGTH = 50  # characters


@transaction.atomic
def tag(user: User, posting_ids: Iterable[int], name: str, now: datetime) -> None:
    """Put a tag on postings, besides those that they have.

    Raises NotPossible if it cannot be a tag's name, or would be one more than a person can have.
    """
    name = checked_tag(name)
    User.objects.select_for_update().get(pk=user.pk)  # or two new ones at once would be one too many
    tags = Tag.objects.filter(user=user)
    if not tags.filter(name=name).exists() and tags.count() >= MAX_TAGS:
        raise NotPossible(_("You can have at most %(number)s tags.") % {"number": MAX_TAGS})
    tag_for_all([(user.pk, name, posting_id) for posting_id in posting_ids], now=now)


def untag(user: User, posting_ids: Iterable[int], name: str) -> None:
    Tagging.objects.filter(tag__user=user, tag__name=_tidy(name), posting_id__in=list(posting_ids)).delete()


@transaction.atomic
def tag_for_all(tagged: Collection[tuple[int, str, int]], *, now: datetime) -> None:
    """Tag postings for many people at once: a person's id, the tag's checked name, a posting's id."""
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
    """The name of a tag as it is kept. Raises NotPossible if nothing is left of it, or it is too long."""
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
    """Give a tag of the person's another name; False if they have no such tag.

    Raises NotPossible if it cannot be a tag's name, or another tag of theirs has it.
    """
    name = checked_tag(name)
    User.objects.select_for_update().get(pk=user.pk)  # or a new tag could take the name in between
    if Tag.objects.filter(user=user, name=name).exclude(pk=tag_id).exists():
        raise NotPossible(_("A tag named “%(name)s” already exists; you can merge the two.") % {"name": name})
    return Tag.objects.filter(user=user, pk=tag_id).update(name=name) > 0


@transaction.atomic
def merge_tags(user: User, tag_id: int, into_id: int) -> bool:
    """Put the one tag's postings under the other, and delete the one; False if these are not two tags of theirs."""
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
    """Take a tag off all postings; False if the person has no such tag."""
    deleted, _by_model = Tag.objects.filter(user=user, pk=tag_id).delete()
    return deleted > 0
