from django.db import models

from apps.accounts.models import User
from apps.sources.models import Source


class Waiting(models.Model):
    """A line of an archive about a posting that has not been retrieved yet. See `actions.settle`."""

    id = models.BigAutoField(primary_key=True)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    member = models.CharField(max_length=40)  # of the archive
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=64)  # distinguishes it from other lines about the source
    record = models.JSONField()
    noted_at = models.DateTimeField()
    due_at = models.DateTimeField(db_index=True)  # next search for the posting

    class Meta:
        verbose_name_plural = "waiting"
        constraints = [models.UniqueConstraint(fields=["user", "member", "source", "key"], name="waiting_once")]
