from django.db import models
from django.db.models.functions import Now


class Source(models.Model):
    """A place that news comes from: one row per address, shared by all who follow it."""

    class Kind(models.TextChoices):
        FEED = "feed", "Feed (RSS, Atom or JSON)"

    class State(models.TextChoices):
        ACTIVE = "active", "Active"
        PAUSED = "paused", "Paused by an admin"
        GONE = "gone", "Gone: the publisher says that it will not come back"

    url = models.CharField(max_length=2_000, unique=True)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.FEED)
    state = models.CharField(max_length=10, choices=State, default=State.ACTIVE)
    title = models.CharField(max_length=1_000, blank=True)
    site_url = models.CharField(max_length=4_000, blank=True)
    description = models.TextField(blank=True)
    language = models.CharField(max_length=20, blank=True)
    category = models.CharField(max_length=100, blank=True)
    image_url = models.CharField(max_length=4_000, blank=True)
    weight = models.FloatField(default=1.0, help_text="What an admin thinks a posting of it is worth; 1 is usual.")
    # What people's standing questions add to its worth; written by whoever knows them, 1 where nobody asks.
    interest = models.FloatField(default=1.0)
    listed = models.BooleanField(default=False, help_text="Shown in the catalogue, and its postings to everybody.")
    always_retrieved = models.BooleanField(default=False, help_text="Asked even while nobody follows it.")
    # Hours of the source that pass in one of ours: 1, except for replays. All waiting times are divided by it.
    pace = models.FloatField(default=1.0)
    # A person's own choice of the shortest gap in seconds; it may go below what politeness takes by default.
    min_gap = models.PositiveIntegerField(null=True, blank=True)
    added_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(weight__gte=0, weight__lte=1_000), name="source_weight_in_range"),
            models.CheckConstraint(
                condition=models.Q(interest__gte=0, interest__lte=1_000), name="source_interest_in_range"
            ),
            models.CheckConstraint(condition=models.Q(pace__gt=0), name="source_pace_positive"),
            models.CheckConstraint(condition=models.Q(url__startswith="http"), name="source_url_is_http"),
        ]
        indexes = [
            models.Index(fields=["category", "title"], condition=models.Q(listed=True), name="source_catalogue"),
        ]

    def __str__(self) -> str:
        return self.title or self.url
