from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.following.models import Folder, Tag


class PrivateAddress(models.Model):
    """A list of a person's that whoever knows its secret address may read, and nothing else."""

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
    """A feed that somebody asked for of late, and what hubs were told of it.

    `due_at` is when it is looked at next, or when hubs are tried again that could not be told. Whoever is at it holds
    the lease.
    """

    kind = models.CharField(max_length=7)  # this and the key are those of `Channel`
    key = models.CharField(max_length=1_500)
    form = models.CharField(max_length=4)
    asked_at = models.DateTimeField()  # to within some minutes
    digest = models.CharField(max_length=64)  # of the state that hubs were told of, or are to be told of
    waiting_hubs = ArrayField(models.TextField(), default=list)  # that are to be told
    attempts = models.SmallIntegerField(default=0)  # to tell them, since the last that succeeded
    announced_at = models.DateTimeField(null=True)
    last_error = models.CharField(max_length=300, blank=True)
    due_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "key", "form"], name="asked_feed_once")]
        indexes = [
            models.Index(fields=["due_at"], name="asked_feed_due"),
            models.Index(fields=["asked_at"], name="asked_feed_age"),
        ]
