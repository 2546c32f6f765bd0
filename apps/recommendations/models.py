"""Sources with common followers, rising sources, and those that fit a user's reading, from follows and reading.

No row says who follows what: pairs of sources are stored from three common followers on, and only as counts.
"""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

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


class Sketch(models.Model):
    """The terms of a source's newest postings, as taste uses them."""

    source = models.OneToOneField(Source, on_delete=models.CASCADE, primary_key=True, related_name="sketch")
    terms = models.BinaryField()  # int32
    counts = models.BinaryField()  # float32: the share of its postings that have each
    read_at = models.DateTimeField()


class Match(models.Model):
    """A source that fits a user's reading."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="+")
    value = models.FloatField()  # cosine
    words = ArrayField(models.CharField(max_length=60))  # common to the user's reading and the source

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "source"], name="match_once")]


class Matched(models.Model):
    """When a user's matches were last computed."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="matched"
    )
    at = models.DateTimeField(db_index=True)


class Dismissal(models.Model):
    """A source that a user does not want to see recommended."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "source"], name="dismissal_once")]
