"""Reads of what users have written, read, played and shared."""

from django.db.models import Q, QuerySet

from apps.accounts.models import User
from apps.database.sanitizing import sanitize
from apps.following.models import Highlight, Note, Playback, Reading, Share
from apps.postings.queries import Cursor


def notes_of(user: User, words: str = "") -> QuerySet[Note]:
    """The latest first; with words, those that contain each of them."""
    notes = Note.objects.filter(user=user)
    for word in words.split():
        notes = notes.filter(text__icontains=word)
    return notes.order_by("-changed_at", "-pk")


def highlights_of(user: User, words: str = "") -> QuerySet[Highlight]:
    """The latest first; with words, those that contain each of them in quote or note."""
    found = Highlight.objects.filter(user=user)
    for word in words.split():
        found = found.filter(Q(quote__icontains=word) | Q(note__icontains=word))
    return found.order_by("-pk")


def readings_before(user: User, place: Cursor | None) -> QuerySet[Reading]:
    """The user's history, the latest first, from a place on; including postings that can no longer be opened."""
    readings = Reading.objects.filter(user=user).order_by("-read_at", "-posting_id")
    if place is None:
        return readings
    ties = Q(read_at=place.published_at, posting_id__gte=place.id)
    return readings.filter(~ties, read_at__lte=place.published_at)


def unfinished(user: User) -> QuerySet[Playback]:
    """Recordings with a playback position, the latest first."""
    return Playback.objects.filter(user=user).order_by("-changed_at", "-pk")


def shares_of(user: User) -> QuerySet[Share]:
    """The latest first."""
    return Share.objects.filter(user=user).order_by("-shared_at", "-pk")


def share_at(secret: str) -> Share | None:
    """The share at a secret address, unless its user is locked."""
    return Share.objects.filter(secret=sanitize(secret), user__is_active=True).select_related("posting__source").first()
