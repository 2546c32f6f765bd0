"""What postings count for, the counts of hours, days and months that follow from it, and the lists made of these.

Each table follows from the one before it: slices of hours from `Counted`, of days from those of their hours, of months
from those of their days, lists from slices. Nothing is ever added to a count, so doing it again changes nothing.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models


class OutboxRow(models.Model):
    """A posting that may not be as it was counted. Written by triggers, taken out by `actions.count`."""

    posting_id = models.BigIntegerField()


class Counted(models.Model):
    """What a posting counts for."""

    posting_id = models.BigIntegerField(primary_key=True)
    source_id = models.BigIntegerField()
    language = models.CharField(max_length=3)
    category = models.CharField(max_length=100)  # its source's
    hour = models.DateTimeField()  # in which it was published
    fold = models.BigIntegerField()  # equal for postings of a source whose titles hardly differ: one of an hour counts
    terms = models.BinaryField()  # int64, ascending

    class Meta:
        indexes = [models.Index(fields=["language", "category", "hour"], name="trending_counted_hour")]


class Stale(models.Model):
    """An hour whose slice may not be what its postings say. Written with what made it so, taken out with the slice.

    There may be several of an hour: one is only taken out by who has seen it.
    """

    language = models.CharField(max_length=3)
    category = models.CharField(max_length=100)
    hour = models.DateTimeField()


class Slice(models.Model):
    """How many postings of an hour, a day or a month hold each term."""

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
    pruned = models.BooleanField(default=False)  # terms that are rare for weeks were taken out

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["step", "language", "category", "begins_at"], name="trending_slice_once"),
        ]


class Trend(models.Model):
    """A line of a list. An empty category stands for all of them."""

    class Horizon(models.TextChoices):
        HOUR = "hour", "Hour"
        DAY = "day", "Day"
        WEEK = "week", "Week"
        MONTH = "month", "Month"
        YEAR = "year", "Year"

    class Method(models.TextChoices):
        OURS = "ours", "Above its habit"
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
    expected = models.FloatField(null=True)  # documents; only ours has an idea of it
    sources = models.IntegerField()
    related = ArrayField(models.TextField())
    curve = ArrayField(models.IntegerField())  # documents over time, the last value is that of the window's end
    posting_ids = ArrayField(models.BigIntegerField())  # the newest few that hold it
    listed_at = models.DateTimeField()
    since = models.DateTimeField()  # listed without a break

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["language", "category", "horizon", "method", "rank"], name="trending_trend_once"
            ),
        ]
