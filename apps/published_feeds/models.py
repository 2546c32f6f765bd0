from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.following.models import Folder, Tag


class PrivateAddress(models.Model):
    """A secret address that grants read access to one list of a person, and to nothing else."""

    class Kind(models.TextChoices):
        ALL = "all", _("All articles")
        FOLDER = "folder", _("Folder")
        STARRED = "starred", _("Starred")
        TAG = "tag", _("Tag")
        SHARED = "shared", _("Shared by you")
        SOURCES = "sources", _("Your feeds as OPML")

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="private_addresses", db_index=False
    )
    kind = models.CharField(max_length=7, choices=Kind)
    folder = models.ForeignKey(Folder, on_delete=models.CASCADE, null=True, related_name="private_addresses")
    tag = models.ForeignKey(Tag, on_delete=models.CASCADE, null=True, related_name="private_addresses")
    secret = models.CharField(max_length=43, unique=True)
    made_at = models.DateTimeField()  # or renewed

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "kind", "folder", "tag"], nulls_distinct=False, name="private_address_once"
            ),
        ]


class RequestedFeed(models.Model):
    """A feed that was requested recently, and the state announced to hubs.

    `due_at` is the time of its next check, or of the next attempt to notify hubs that failed. The process that checks
    it holds the lease.
    """

    kind = models.CharField(max_length=7)  # this and the key are those of `Channel`
    key = models.CharField(max_length=1_500)
    form = models.CharField(max_length=4)
    requested_at = models.DateTimeField()  # to within 10 minutes
    digest = models.CharField(max_length=64)  # of the state that is announced, or about to be
    waiting_hubs = ArrayField(models.TextField(), default=list)  # not yet notified
    attempts = models.SmallIntegerField(default=0)  # failed ones since the last success
    announced_at = models.DateTimeField(null=True)
    last_error = models.CharField(max_length=300, blank=True)
    due_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "key", "form"], name="requested_feed_once")]
        indexes = [
            models.Index(fields=["due_at"], name="requested_feed_due"),
            models.Index(fields=["requested_at"], name="requested_feed_age"),
        ]
