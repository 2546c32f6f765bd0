"""Terms of postings, their counts per hour, day and month, and the lists computed from these.

Each table is derived from the previous one: slices of hours from `Counted`, of days from their hours, of months from
their days, lists from slices. Counts are recomputed instead of incremented, so every step is idempotent.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models


class OutboxRow(models.Model):
    """A posting that was changed since it was counted. Written by triggers, deleted by `actions.count`."""

    posting_id = models.BigIntegerField()


class Counted(models.Model):
    """The terms of a posting, and where they are counted."""

    posting_id = models.BigIntegerField(primary_key=True)
    source_id = models.BigIntegerField()
    language = models.CharField(max_length=3)
    category = models.CharField(max_length=100)  # its source's
    hour = models.DateTimeField()  # in which it was published
    # Equal for postings with near-duplicate titles, of which one per source and hour counts.
    fold = models.BigIntegerField()
    terms = models.BinaryField()  # int64, ascending

    class Meta:
        indexes = [models.Index(fields=["language", "category", "hour"], name="trending_counted_hour")]


class Stale(models.Model):
    """An hour whose slice is out of date. Written in the transaction that changes a posting, deleted with slicing.

    An hour may have several rows; slicing deletes only those that it has read.
    """

    language = models.CharField(max_length=3)
    category = models.CharField(max_length=100)
    hour = models.DateTimeField()


class Slice(models.Model):
    """Posting counts of each term in an hour, a day or a month."""

    class Step(models.TextChoices):
        HOUR = "hour", "Hour"
        DAY = "day", "Day"
        MONTH = "month", "Month"

    step = models.CharField(max_length=5, choices=Step)
    language = models.CharField(max_length=3)
    category = models.CharField(max_length=100)
    begins_at = models.DateTimeField()
    documents = models.IntegerField()
    terms = models.BinaryField()  # int64, ascending
    counts = models.BinaryField()  # int32
    pruned = models.BooleanField(default=False)  # rare terms were removed

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["step", "language", "category", "begins_at"], name="trending_slice_once"),
        ]


class Trend(models.Model):
    """A term of a list. An empty category stands for all."""

    class Horizon(models.TextChoices):
        HOUR = "hour", "Hour"
        DAY = "day", "Day"
        WEEK = "week", "Week"
        MONTH = "month", "Month"
        YEAR = "year", "Year"

    class Method(models.TextChoices):
        OURS = "ours", "Rising now"
        YIOOP = "yioop", "Yioop's score"

    language = models.CharField(max_length=3)
    category = models.CharField(max_length=100)
    horizon = models.CharField(max_length=5, choices=Horizon)
    method = models.CharField(max_length=5, choices=Method)
    rank = models.SmallIntegerField()  # from 1
    number = models.BigIntegerField()  # of the term
    term = models.TextField()  # as postings spell it
    score = models.FloatField()
    documents = models.IntegerField()  # in the window
    expected = models.FloatField(null=True)  # documents; null for Yioop's score
    sources = models.IntegerField()
    related = ArrayField(models.TextField())
    curve = ArrayField(models.IntegerField())  # documents over time, the newest last
    posting_ids = ArrayField(models.BigIntegerField())  # the newest few with the term
    story_id = models.BigIntegerField(null=True)  # of most of them
    label = models.TextField(default="")  # the story's headline
    listed_at = models.DateTimeField()
    since = models.DateTimeField()  # listed without a break

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["language", "category", "horizon", "method", "rank"], name="trending_trend_once"
            ),
        ]
