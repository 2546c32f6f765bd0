"""Notices to followers of sources: that one is failing, works again, moved or ended."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.sources.models import Source


class Condition(models.Model):
    """The condition of a followed source as of its latest notices."""

    source = models.OneToOneField(Source, on_delete=models.CASCADE, primary_key=True, related_name="condition")
    url = models.CharField(max_length=2_000)
    broken_since = models.DateTimeField(null=True)  # null: no notice that it fails is open
    is_gone = models.BooleanField(default=False)


class Notice(models.Model):
    """A notice to one follower of a source, shown until it is dismissed."""

    class Kind(models.TextChoices):
        BROKEN = "broken", _("Failing")
        WELL = "well", _("Working again")
        MOVED = "moved", _("Moved")
        GONE = "gone", _("Ended")

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notices", db_index=False)
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=6, choices=Kind)
    at = models.DateTimeField()  # since when it fails; else when we saw it
    address = models.CharField(max_length=2_000, blank=True)  # where it moved to
    created_at = models.DateTimeField()
    dismissed_at = models.DateTimeField(null=True)
    mailed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "source", "kind", "at"], name="notice_once")]
        indexes = [models.Index(fields=["user", "-id"], condition=Q(dismissed_at=None), name="notice_open")]


class MailSetting(models.Model):
    """A user who gets notices by mail, too. Without a row they are only shown in the portal."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, primary_key=True, related_name="notice_mail_wish")
    since = models.DateTimeField()  # earlier notices are not mailed
