from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from apps.postings.models import Posting
from apps.sources.models import Source


class Folder(models.Model):
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="folders")
    parent = models.ForeignKey("self", on_delete=models.CASCADE, null=True, blank=True, related_name="children")
    name = models.CharField(max_length=100)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "parent", "name"], nulls_distinct=False, name="folder_name_unique_in_parent"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Follow(models.Model):
    """A person follows a source, in any number of folders."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="follows")
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="follows")
    folders = models.ManyToManyField(Folder, related_name="follows", blank=True)
    title = models.CharField(max_length=1_000, blank=True)  # the person's own name for it
    # Older postings were there before the person came: they count as read unless marked otherwise.
    unread_from = models.DateTimeField()
    followed_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "source"], name="follow_once")]

    def __str__(self) -> str:
        return f"user {self.user_id} follows source {self.source_id}"


class Mark(models.Model):
    """What a person did with a posting. No row: unread since `Follow.unread_from`, not starred."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="marks", db_index=False)
    posting = models.ForeignKey(Posting, on_delete=models.CASCADE, related_name="marks")
    read = models.BooleanField(null=True)  # null: never said
    starred_at = models.DateTimeField(null=True)
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "posting"], name="mark_once")]
        indexes = [
            models.Index(
                fields=["user", "-starred_at"], condition=models.Q(starred_at__isnull=False), name="mark_starred"
            ),
        ]

    def __str__(self) -> str:
        return f"mark of user {self.user_id} on posting {self.posting_id}"


class Tag(models.Model):
    """A word of a person's own for postings."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tags", db_index=False)
    name = models.CharField(max_length=50)
    postings = models.ManyToManyField(Posting, through="Tagging", related_name="tags")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="tag_once")]

    def __str__(self) -> str:
        return self.name


class Tagging(models.Model):
    tag = models.ForeignKey(Tag, on_delete=models.CASCADE, related_name="taggings", db_index=False)
    posting = models.ForeignKey(Posting, on_delete=models.CASCADE, related_name="taggings")
    tagged_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tag", "posting"], name="tagging_once")]

    def __str__(self) -> str:
        return f"tag {self.tag_id} on posting {self.posting_id}"


class Note(models.Model):
    """What a person wrote down about a posting."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notes", db_index=False)
    posting = models.ForeignKey(Posting, on_delete=models.CASCADE, related_name="notes")
    text = models.TextField()
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "posting"], name="note_once")]
        indexes = [models.Index(fields=["user", "-changed_at"], name="note_latest")]

    def __str__(self) -> str:
        return f"note of user {self.user_id} on posting {self.posting_id}"


class Reading(models.Model):
    """A person read a posting, the last time then. What was marked read with its whole list is not kept here."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="readings", db_index=False
    )
    posting = models.ForeignKey(Posting, on_delete=models.CASCADE, related_name="readings")
    read_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "posting"], name="reading_once")]
        indexes = [models.Index(fields=["user", "-read_at", "-posting"], name="reading_latest")]

    def __str__(self) -> str:
        return f"reading of posting {self.posting_id} by user {self.user_id}"


class Playback(models.Model):
    """How far a person has come in a recording that a posting carries. Gone once they reached its end."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="playbacks", db_index=False
    )
    posting = models.ForeignKey(Posting, on_delete=models.CASCADE, related_name="playbacks")
    address = models.TextField()  # of the recording, as the posting had it then
    seconds = models.FloatField()  # from its beginning
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "posting"], name="playback_once")]
        indexes = [models.Index(fields=["user", "-changed_at"], name="playback_latest")]

    def __str__(self) -> str:
        return f"place of user {self.user_id} in posting {self.posting_id}"


class Share(models.Model):
    """A posting that a person shows to everybody who knows its secret address."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="shares", db_index=False)
    posting = models.ForeignKey(Posting, on_delete=models.CASCADE, related_name="shares")
    secret = models.CharField(max_length=43, unique=True)
    shared_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "posting"], name="share_once")]

    def __str__(self) -> str:
        return f"share of posting {self.posting_id} by user {self.user_id}"
