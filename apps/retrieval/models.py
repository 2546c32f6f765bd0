from datetime import datetime

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.retrieval.algorithms.planner.activity import PRIOR
from apps.sources.models import Source


class Plan(models.Model):
    """How all retrievals are shared out among the sources. There is one row; `actions.change_plan` writes it."""

    class Unit(models.TextChoices):
        SOURCE_DAY = "source_day", _("per feed and day")
        DAY = "day", _("per day, all feeds together")
        HOUR = "hour", _("per hour, all feeds together")

    class Counted(models.TextChoices):
        REQUESTS = "requests", _("checks")
        BYTES = "bytes", _("kilobytes")

    policy = models.CharField(max_length=20, default="ours")  # a module of `policies`
    budget = models.FloatField(default=12.0, help_text="Retrievals, or the kilobytes that they receive.")
    counted = models.CharField(
        max_length=8, choices=Counted, default=Counted.REQUESTS, db_default=Counted.REQUESTS.value
    )
    unit = models.CharField(max_length=10, choices=Unit, default=Unit.SOURCE_DAY)
    # Of sources without a feed, whose changes only fetches show: a module of `policies`, or "same".
    pages_policy = models.CharField(max_length=20, default="same")
    longest_gap = models.FloatField(default=24.0, help_text="Hours; no source waits longer, whatever it is worth.")
    interest_share = models.FloatField(
        default=0.1, help_text="Of its retrievals, how many a source may lose to those that people's searches wait for."
    )
    learning_days = models.PositiveSmallIntegerField(default=14, db_default=14)  # that rates of the papers come from
    changed_at = models.DateTimeField(db_default=Now())
    revision = models.PositiveIntegerField(default=1)  # raised by each change of the above
    planned_revision = models.PositiveIntegerField(default=0)  # the one that all due times follow

    price = models.FloatField(null=True)  # posting-hours per retrieval, or per kilobyte
    # Square-root mass of all sources per unit of the budget: the price follows its square (see `planner.price`).
    mass = models.FloatField(null=True)  # that the price is for
    rehearsed_mass = models.FloatField(null=True)  # that it was last rehearsed for
    priced_at = models.DateTimeField(null=True)
    learned_at = models.DateTimeField(null=True)  # when profiles were last learnt
    priors = models.JSONField(null=True)  # of new sources' profiles
    curve = models.JSONField(default=list)  # [[budget of a day of all sources, expected mean delay in hours]...]

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(pk=1), name="plan_is_one"),
            models.CheckConstraint(condition=Q(budget__gt=0), name="plan_budget_positive"),
            models.CheckConstraint(
                condition=Q(longest_gap__gte=1, longest_gap__lte=168), name="plan_longest_gap_in_range"
            ),
            models.CheckConstraint(
                condition=Q(interest_share__gte=0, interest_share__lte=0.5), name="plan_interest_share_in_range"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.policy}, {self.budget:g} {self.get_unit_display()}"


class Backtest(models.Model):
    """A day of the log replayed with every policy, at as many retrievals as were made."""

    at = models.DateTimeField(primary_key=True)  # when it was computed
    begins_at = models.DateTimeField()  # of the replayed day
    ends_at = models.DateTimeField()
    sources = models.PositiveIntegerField()  # all, or a sample
    retrievals = models.FloatField()  # per source and day
    results = models.JSONField()  # `measures` by policy, and as measured
    shares = models.JSONField()  # of the measured delay by cause
    saved = models.JSONField()  # bytes of all sources in the last 24 hours
    patterns = models.JSONField()  # of k-means: [[sources, shares of 24 hours]...]


class WeeklyProfile(models.Model):
    """When a source publishes, as learnt. Numbers are packed: a fleet has hundreds of thousands of profiles."""

    source = models.OneToOneField(Source, on_delete=models.CASCADE, primary_key=True, related_name="weekly_profile")
    hourly = models.BinaryField()  # float32 (168,): postings expected in each hour of the source's week, Sunday first
    minutes = models.BinaryField(default=b"")  # uint16 (24, 12): shares of five minutes x 65535; empty: all the same
    weekly = models.FloatField()  # postings a week
    root_mass = models.FloatField()  # integral of the root of the rate over the week: retrievals are proportional to it
    utc_offset = models.SmallIntegerField(default=0)  # minutes: `hourly` is in the source's local time
    window = models.PositiveIntegerField(null=True)  # items in its latest document
    timetable = models.BinaryField(default=b"")  # float64: due times of a policy that does not react; hours, UTC
    period = models.FloatField(default=0.0)  # h, of the timetable
    chances = models.BinaryField(default=b"")  # float32: of an update at each of them, if the policy has it
    learned_at = models.DateTimeField()


class Schedule(models.Model):
    """When a source is due next, and the state that the planner and the next request need.

    A row waits (`due_at` ahead), is due, is claimed (`dispatched_at` set: the message is on its way to a worker) or
    begun (`worker` set: that worker retrieves it and sends heartbeats). While it is claimed or begun, `due_at` is the
    end of the lease, the last resort. `due_at` is null while the source is not retrieved.
    """

    source = models.OneToOneField(Source, on_delete=models.CASCADE, primary_key=True, related_name="schedule")
    partition = models.PositiveSmallIntegerField()  # of the site's registrable domain
    due_at = models.DateTimeField(null=True)
    # When the retrieval under way, or still to be begun, was due for the first time; null while the row waits.
    first_due_at = models.DateTimeField(null=True)
    sequence = models.IntegerField(default=0)  # raised by each claim and each result: a late worker's result is dropped
    dispatched_at = models.DateTimeField(null=True)  # of a claim that no worker has begun
    worker = models.CharField(max_length=200, blank=True)  # that retrieves it right now
    attempts = models.PositiveSmallIntegerField(default=0, db_default=0)  # begun since a result was stored
    reason = models.CharField(max_length=200, blank=True)  # why then, for people
    earliest_at = models.DateTimeField(null=True)  # by the latest response no earlier; the shortest gap comes on top
    ahead = ArrayField(models.DateTimeField(), default=list)  # expected due times after `due_at`, for display
    worth = models.FloatField(default=1.0)  # the source's weight that price and timetables follow
    observed_at = models.DateTimeField(null=True)  # the latest successful retrieval
    activity_seen = models.FloatField(default=PRIOR)  # see algorithms.planner.activity
    activity_expected = models.FloatField(default=PRIOR)

    # Push (WebSub, rssCloud): the hub that announces updates, the topic's address, and the end of the lease.
    hub_url = models.TextField(blank=True)
    topic_url = models.TextField(blank=True)
    pushed_until = models.DateTimeField(null=True)

    etag = models.TextField(blank=True)  # both exactly as the server sent them, from one answer
    last_modified = models.TextField(blank=True)
    body_hash = models.BinaryField(max_length=16, default=b"")  # equal bodies are not parsed again
    requested_at = models.DateTimeField(null=True)  # the latest request
    not_before = models.DateTimeField(null=True)  # by the latest response
    consecutive_failures = models.PositiveIntegerField(default=0)
    failing_since = models.DateTimeField(null=True)
    slowdown = models.FloatField(default=1.0)
    validated = models.BooleanField(default=False)  # the source has offered a validator before
    moved_to = models.TextField(blank=True)
    moved_count = models.PositiveIntegerField(default=0)
    repeats = models.PositiveIntegerField(default=0, db_default=0)  # answers in a row with the same bytes
    answer_bytes = models.FloatField(null=True)  # of the latest answers on average, whole ones and 304 alike
    ttl = models.PositiveIntegerField(null=True)  # s
    skip_hours = models.PositiveIntegerField(default=0)  # bit h: not in hour h (GMT)
    skip_days = models.PositiveSmallIntegerField(default=0)  # bit d: not on day d, Monday is 0 (GMT)

    class Meta:
        indexes = [
            models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="schedule_due"),
            models.Index(fields=["failing_since"], condition=Q(failing_since__isnull=False), name="schedule_failing"),
            models.Index(fields=["dispatched_at"], condition=Q(dispatched_at__isnull=False), name="schedule_claimed"),
            models.Index(fields=["worker"], condition=~Q(worker=""), name="schedule_begun"),
            models.Index(fields=["source"], condition=~Q(hub_url="") & ~Q(topic_url=""), name="schedule_with_hub"),
            models.Index(fields=["first_due_at"], condition=Q(first_due_at__isnull=False), name="schedule_first_due"),
        ]

    @property
    def check_due_at(self) -> datetime | None:
        """When the next retrieval is due; of one that is due or under way, when it was for the first time."""
        return self.due_at and (self.first_due_at or self.due_at)


class SourceChange(models.Model):
    """A source that was followed, weighted, paused or the like. Written by triggers, deleted by `replan_changed`."""

    source_id = models.BigIntegerField()


class Worker(models.Model):
    """A process that retrieves sources. What it has begun is released when its heartbeats stop."""

    name = models.CharField(max_length=200, primary_key=True)
    seen_at = models.DateTimeField()  # its latest heartbeat, by the database's clock


class UnmatchedClaims(models.Model):
    """How many claims in messages matched no row when a worker tried to begin them, by reason."""

    reason = models.CharField(max_length=20, primary_key=True)
    count = models.PositiveBigIntegerField(default=0)
    latest_at = models.DateTimeField()


class Retrieval(models.Model):
    """One retrieval: when it was first due, dispatched, begun, fetched and stored, and its outcome."""

    class Outcome(models.TextChoices):
        NEW = "new", _("New articles")
        UNCHANGED = "unchanged", _("Nothing new")
        NOT_MODIFIED = "not_modified", _("Not modified (304)")
        DEFERRED = "deferred", _("Postponed: host was busy")
        THROTTLED = "throttled", _("Rate limited")
        REFUSED = "refused", _("Not allowed")
        FAILED = "failed", _("Failed")
        NOT_A_FEED = "not_a_feed", _("Not a feed")
        GONE = "gone", _("Gone")
        PUSHED = "pushed", _("Sent by the publisher")

    class Origin(models.TextChoices):
        PLAN = "plan", _("Planned")
        READER = "reader", _("On request")

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="retrievals", db_index=False)
    due_at = models.DateTimeField()  # for the first time: later dispatches of the same retrieval do not move it
    dispatched_at = models.DateTimeField()
    begun_at = models.DateTimeField(null=True)  # when the request was sent; null if none was
    fetched_at = models.DateTimeField()
    stored_at = models.DateTimeField()
    outcome = models.CharField(max_length=12, choices=Outcome)
    origin = models.CharField(max_length=6, choices=Origin, default=Origin.PLAN, db_default=Origin.PLAN)
    status = models.PositiveSmallIntegerField(default=0)  # HTTP; 0 without a response
    new = models.PositiveIntegerField(default=0)
    edited = models.PositiveIntegerField(default=0)
    dated = models.PositiveIntegerField(default=0)  # new postings whose delay is known
    delay_seconds = models.FloatField(default=0.0)  # sum over them, in the source's time
    longest_delay_seconds = models.FloatField(default=0.0)
    wire_bytes = models.PositiveIntegerField(default=0)
    elapsed_ms = models.PositiveIntegerField(default=0)
    message = models.CharField(max_length=500, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["source", "-fetched_at"], name="retrieval_of_source"),
            models.Index(fields=["fetched_at"], name="retrieval_time"),
        ]


class LatenessBucket(models.Model):
    """A bucket of the histogram of lateness since the portal began, beyond the deletion of the log's rows.

    It is sharded by connections, so that they do not wait for each other.
    """

    pk = models.CompositePrimaryKey("stage", "upper_seconds", "shard")
    stage = models.CharField(max_length=6)  # "begun" or "stored"
    upper_seconds = models.FloatField()  # retrievals later than that are in another bucket
    shard = models.PositiveSmallIntegerField()
    count = models.PositiveBigIntegerField(default=0)
    seconds = models.FloatField(default=0.0)  # the sum of their lateness


PAGES_PER_DAY = 2_000  # requests for pages of a crawled site, unless its crawl says otherwise


class Crawl(models.Model):
    """How a site is crawled, and the learnt patterns of its addresses. One row for each source with pages."""

    source = models.OneToOneField(Source, on_delete=models.CASCADE, primary_key=True, related_name="crawl")
    max_depth = models.PositiveSmallIntegerField(default=6)  # links away from the first page
    max_pages = models.PositiveIntegerField(default=100_000)  # that are stored
    max_index_pages = models.PositiveIntegerField(default=100)  # that are scheduled like feeds
    pages_per_day = models.PositiveIntegerField(default=PAGES_PER_DAY)
    known_pages = models.PositiveIntegerField(default=0)
    patterns = models.JSONField(default=dict)  # see algorithms.crawl.patterns
    keen_tags = ArrayField(models.CharField(max_length=40), null=True)  # learnt from the site; null: the default recipe
    day_began_at = models.DateTimeField(null=True)  # of the day of `requests_today`
    requests_today = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(null=True)  # when pages may be fetched next; null: none waits
    explored_at = models.DateTimeField(null=True)  # when no page waited for the first time
    leased_until = models.DateTimeField(null=True)  # while a worker fetches a batch

    class Meta:
        indexes = [models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="crawl_due")]


class Page(models.Model):
    """A page of a crawled site, valueless ones included, or the page of a teaser.

    `due_at` is null for pages that are not to be fetched (again).
    """

    class Kind(models.TextChoices):
        UNKNOWN = "unknown", _("Not visited yet")
        NEWS = "news", _("News")
        INDEX = "index", _("Index page")
        VALUELESS = "valueless", _("Not useful")

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="pages", db_index=False)
    key = models.BinaryField(max_length=16)  # of the address, the same for its variants
    url = models.CharField(max_length=2_000)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.UNKNOWN)
    probability = models.FloatField(default=0.0)
    decided_by = models.CharField(max_length=20, blank=True)  # "rule", "pattern", "feed", "operator", "address"...
    reason = models.CharField(max_length=200, blank=True)  # for people
    link_text = models.CharField(max_length=300, blank=True)
    depth = models.PositiveSmallIntegerField(default=0)
    priority = models.FloatField(default=0.0)  # greater is fetched earlier
    found_on = models.ForeignKey(Source, on_delete=models.SET_NULL, null=True, related_name="+")  # an index page
    found_at = models.DateTimeField()
    due_at = models.DateTimeField(null=True)
    fetches = models.PositiveSmallIntegerField(default=0)
    failures = models.PositiveSmallIntegerField(default=0)
    fetched_at = models.DateTimeField(null=True)
    status = models.PositiveSmallIntegerField(default=0)  # HTTP, of the latest fetch
    posting = models.ForeignKey("postings.Posting", on_delete=models.SET_NULL, null=True, related_name="pages")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "key"], name="page_of_source")]
        indexes = [
            models.Index(fields=["source", "-priority", "id"], condition=Q(due_at__isnull=False), name="page_waiting"),
            models.Index(fields=["found_on"], condition=Q(found_on__isnull=False), name="page_found_on"),
        ]

    def __str__(self) -> str:
        return self.url


class RobotsRules(models.Model):
    """A site's robots.txt (RFC 9309), kept for a day."""

    origin = models.CharField(max_length=300, primary_key=True)  # scheme://host:port
    body = models.TextField()  # empty when there is none
    fetched_at = models.DateTimeField()
