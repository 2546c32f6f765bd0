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
    # What was done offline is heard of late, and must not undo what was done of the same kind since. Null: not known,
    # as for what was marked read with its whole list.
    read_changed_at = models.DateTimeField(null=True)
    star_changed_at = models.DateTimeField(null=True)

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


class OfflineChange(models.Model):
    """A change that a device made while it was offline, and what came of it: sent again, it is not applied again."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="offline_changes", db_index=False
    )
    change_id = models.UUIDField()  # made by the device
    outcome = models.CharField(max_length=10)  # see actions_offline.Outcome
    received_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "change_id"], name="offline_change_once")]
        indexes = [models.Index(fields=["user", "received_at"], name="offline_change_age")]

    def __str__(self) -> str:
        return f"change {self.change_id} of user {self.user_id}"
