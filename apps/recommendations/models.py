"""Sources with common followers, and rising sources, from follows and reading.

No row says who follows what: pairs of sources are stored from three common followers on, and only as counts.
"""

from django.db import models

from apps.accounts.models import User
from apps.sources.models import Source


class Likeness(models.Model):
    """Another source that followers of a source follow more often than others do; the most similar few of each."""

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="likenesses", db_index=False)
    other = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="+")
    value = models.FloatField()  # root of the log-likelihood ratio
    shared = models.IntegerField()  # people who follow both

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "other"], name="likeness_once")]


class Growth(models.Model):
    """A source that is followed, or read, more this week than before; recomputed every hour."""

    source = models.OneToOneField(Source, on_delete=models.CASCADE, primary_key=True, related_name="growth")
    value = models.FloatField()  # about standard deviations: see algorithms.growth
    gained = models.IntegerField()  # followers, of the last seven days
    opened = models.IntegerField()  # number of readers in the last seven days

    class Meta:
        indexes = [models.Index(fields=["-value"], name="growth_most")]


class Dismissal(models.Model):
    """A source that a user does not want to see recommended."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "source"], name="dismissal_once")]
