"""Which sources go together, rise, or fit what somebody reads. All of it follows from follows and reading.

Nothing here says who follows what: pairs of sources are kept from three people on, and only as counts.
"""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from apps.sources.models import Source


class Likeness(models.Model):
    """Another source that those who follow a source follow more often than others do. Each has the likest few."""

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="likenesses", db_index=False)
    other = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="+")
    value = models.FloatField()  # root of the log-likelihood ratio
    shared = models.IntegerField()  # people who follow both

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "other"], name="likeness_once")]


class Growth(models.Model):
    """A source that is followed, or read, more this week than before; anew every hour."""

    source = models.OneToOneField(Source, on_delete=models.CASCADE, primary_key=True, related_name="growth")
    value = models.FloatField()  # standard deviations, so to speak: see algorithms.growth
    gained = models.IntegerField()  # followers, of the last seven days
    opened = models.IntegerField()  # by how many people it was read in the last seven days
    opened_before = models.IntegerField()  # and in the seven before

    class Meta:
        indexes = [models.Index(fields=["-value"], name="growth_most")]


class Sketch(models.Model):
    """What a source has written about of late, in the terms in which taste is learnt."""

    source = models.OneToOneField(Source, on_delete=models.CASCADE, primary_key=True, related_name="sketch")
    terms = models.BinaryField()  # int32
    counts = models.BinaryField()  # float32: the share of its postings that have each
    read_at = models.DateTimeField()


class Match(models.Model):
    """A source that fits what a person reads."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="+")
    value = models.FloatField()  # cosine
    words = ArrayField(models.CharField(max_length=60))  # that the person reads about, and the source writes about

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "source"], name="match_once")]


class Matched(models.Model):
    """When a person's matches were looked for last."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="matched"
    )
    at = models.DateTimeField(db_index=True)


class Dismissal(models.Model):
    """A source that a person does not want to be recommended."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "source"], name="dismissal_once")]
