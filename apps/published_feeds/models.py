from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
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

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="private_addresses", db_index=False)
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
