"""Long work as rows: a job is cut into splits, and each split is worked on in attempts, one of which is committed.

Rows are the truth, messages only hints. A free worker claims the next open split; there is no master to lose. Leases
and times use the database's clock, which all hosts share.
"""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Job(models.Model):
    """A request for work on many records. Any number of splits of its present stage run at a time."""

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        RUNNING = "running", _("Running")
        PAUSED = "paused", _("Paused")
        CANCELLED = "cancelled", _("Cancelled")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    class Stage(models.TextChoices):
        CUT = "cut", _("Splitting")
        MAP = "map", _("Map")
        REDUCE = "reduce", _("Reduce")

    UNFINISHED = (State.WAITING, State.RUNNING, State.PAUSED)
    ACTIVE = (State.WAITING, State.RUNNING)

    kind = models.CharField(max_length=40)  # see jobs.kinds
    parameters = models.JSONField(default=dict)
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    stage = models.CharField(max_length=6, choices=Stage, default=Stage.CUT)
    requested_by = models.CharField(max_length=150)  # for people
    requested_at = models.DateTimeField(db_default=Now())
    begun_at = models.DateTimeField(null=True)  # when the first split was
    ended_at = models.DateTimeField(null=True)
    problem = models.TextField(blank=True)
    result = models.JSONField(default=dict)  # the sums of its splits' outputs

    class Meta:
        constraints = [
            # A request with the parameters of an unfinished job returns that job.
            models.UniqueConstraint(
                fields=["kind", "parameters"],
                condition=Q(state__in=["waiting", "running", "paused"]),
                name="job_once_at_a_time",
            )
        ]
        indexes = [
            models.Index(fields=["id"], condition=Q(state__in=["waiting", "running", "paused"]), name="job_unfinished"),
            models.Index(fields=["kind", "-id"], name="job_of_kind"),
        ]


class Split(models.Model):
    """A part of a job's records, for one worker at a time. Its result counts once an attempt is committed."""

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        DEAD = "dead", _("Failed")

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="splits", db_index=False)
    stage = models.CharField(max_length=6, choices=Job.Stage)
    number = models.IntegerField()  # from 0 in each stage
    key = models.CharField(max_length=255, blank=True)  # an attribute that may determine its time, such as the host
    parameters = models.JSONField(default=dict)  # which records these are
    records = models.IntegerField()
    size = models.FloatField()  # how much work that is, in the kind's own measure
    estimate = models.FloatField(null=True)  # s; null while nothing is known of the kind
    turn = models.IntegerField()  # smaller ones are begun first
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    open = models.BooleanField(default=True)  # an attempt may begin, the first or another
    failures = models.SmallIntegerField(default=0)  # failed attempts since the last retry by a person
    losses = models.SmallIntegerField(default=0)  # attempts with a lost worker since the last retry by a person
    output = models.JSONField(default=dict)  # of the committed attempt: amounts by name, and `problems`

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "stage", "number"], name="split_number")]
        indexes = [models.Index(fields=["job", "turn"], condition=Q(open=True), name="split_open")]

    def __str__(self) -> str:
        return f"split {self.number} ({self.stage}) of job {self.job_id}"


class Attempt(models.Model):
    """A worker's attempt at a split, with a lease that it renews."""

    class Outcome(models.TextChoices):
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        LOST = "lost", _("Worker lost")
        OVERTAKEN = "overtaken", _("Another worker was first")
        CANCELLED = "cancelled", _("Stopped")

    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="attempts", db_index=False)
    number = models.SmallIntegerField()
    worker = models.CharField(max_length=200)
    begun_at = models.DateTimeField(db_default=Now())
    leased_until = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=9, choices=Outcome, blank=True)  # empty while it runs
    problem = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["split", "number"], name="attempt_number"),
            models.UniqueConstraint(fields=["split"], condition=Q(outcome="done"), name="attempt_that_counts"),
        ]
        indexes = [models.Index(fields=["leased_until"], condition=Q(outcome=""), name="attempt_leased")]


class Emitted(models.Model):
    """A value that a map split emits for the reduce stage, in the part of its key. Deleted when the job is done."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="emitted", db_index=False)
    part = models.SmallIntegerField()
    key = models.TextField()
    value = models.JSONField()

    class Meta:
        indexes = [models.Index(fields=["job", "part"], name="emitted_part")]


class DeadLetter(models.Model):
    """A message of the broker that was redelivered too often, or that no worker can read; see `actions.dead_letters`.

    Its row exists while it is retried, and stays once it is a dead letter.
    """

    id = models.CharField(max_length=200, primary_key=True)  # the message's own
    task = models.CharField(max_length=200)
    content = models.TextField()
    tries = models.PositiveIntegerField(default=0)  # since its second delivery
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    abandoned_at = models.DateTimeField(null=True)
    reason = models.CharField(max_length=300, blank=True)
