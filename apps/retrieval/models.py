from django.db import models

from apps.sources.models import Source


class Schedule(models.Model):
    """When a source is asked next, and what it told us that matters for asking.

    A row waits (`due_at` ahead), is due, or is leased: dispatched to a worker, with `due_at` the end of the lease, so
    that a lost message makes the source due again. `due_at` is null while the source is not to be asked.
    """

    source = models.OneToOneField(Source, on_delete=models.CASCADE, primary_key=True, related_name="schedule")
    partition = models.PositiveSmallIntegerField()  # of the site's registrable domain
    due_at = models.DateTimeField(null=True)
    sequence = models.IntegerField(default=0)  # raised by each claim and each result: a late worker's result is dropped
    dispatched_at = models.DateTimeField(null=True)
    worker = models.CharField(max_length=200, blank=True)  # who is asking right now
    reason = models.CharField(max_length=200, blank=True)  # why then, for people

    etag = models.TextField(blank=True)  # both exactly as the server sent them, from one answer
    last_modified = models.TextField(blank=True)
    body_hash = models.BinaryField(max_length=16, default=b"")  # equal bytes need no parsing
    asked_at = models.DateTimeField(null=True)  # the latest request
    not_before = models.DateTimeField(null=True)  # what the source's last answer asks of us
    consecutive_failures = models.PositiveIntegerField(default=0)
    failing_since = models.DateTimeField(null=True)
    slowdown = models.FloatField(default=1.0)
    validated = models.BooleanField(default=False)  # the source has offered a validator before
    moved_to = models.TextField(blank=True)
    moved_count = models.PositiveIntegerField(default=0)
    ttl = models.PositiveIntegerField(null=True)  # s
    skip_hours = models.PositiveIntegerField(default=0)  # bit h: not in hour h (GMT)
    skip_days = models.PositiveSmallIntegerField(default=0)  # bit d: not on day d, Monday is 0 (GMT)

    class Meta:
        indexes = [
            models.Index(fields=["due_at"], condition=models.Q(due_at__isnull=False), name="schedule_due"),
            models.Index(
                fields=["failing_since"], condition=models.Q(failing_since__isnull=False), name="schedule_failing"
            ),
        ]

    def __str__(self) -> str:
        return f"schedule of source {self.source_id}"


class Retrieval(models.Model):
    """One visit to a source: when it was due, dispatched, fetched and stored, and what came of it."""

    class Outcome(models.TextChoices):
        NEW = "new", "New postings"
        UNCHANGED = "unchanged", "Nothing new"
        NOT_MODIFIED = "not_modified", "Not modified (304)"
        DEFERRED = "deferred", "Deferred: its host was busy"
        THROTTLED = "throttled", "Asked to slow down"
        REFUSED = "refused", "Not allowed"
        FAILED = "failed", "Failed"
        NOT_A_FEED = "not_a_feed", "Not a feed"
        GONE = "gone", "Gone for good"

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="retrievals", db_index=False)
    due_at = models.DateTimeField()
    dispatched_at = models.DateTimeField()
    fetched_at = models.DateTimeField()
    stored_at = models.DateTimeField()
    outcome = models.CharField(max_length=12, choices=Outcome)
    status = models.PositiveSmallIntegerField(default=0)  # HTTP; 0 when no answer came
    new = models.PositiveIntegerField(default=0)
    edited = models.PositiveIntegerField(default=0)
    wire_bytes = models.PositiveIntegerField(default=0)
    elapsed_ms = models.PositiveIntegerField(default=0)
    message = models.CharField(max_length=500, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["source", "-fetched_at"], name="retrieval_of_source"),
            models.Index(fields=["fetched_at"], name="retrieval_time"),
        ]

    def __str__(self) -> str:
        return f"retrieval of source {self.source_id} at {self.fetched_at}"


class RobotsRules(models.Model):
    """A site's robots.txt (RFC 9309), kept for a day."""

    origin = models.CharField(max_length=300, primary_key=True)  # scheme://host:port
    body = models.TextField()  # empty when there is none
    fetched_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.origin
