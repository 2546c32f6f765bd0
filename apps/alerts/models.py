"""The percolator's index of saved searches, their hits, rules and messages."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.postings.models import Posting
from apps.search.models import SavedSearch
from apps.sources.models import Source


class OutboxRow(models.Model):
    """A new or edited posting to match. Written by triggers, consumed by `actions.matching.match`."""

    posting_id = models.BigIntegerField()


class Revision(models.Model):
    """A saved search whose index terms are out of date. Written by triggers, consumed by `actions.matching.prepare`."""

    saved_id = models.BigIntegerField()


class PercolatorQuery(models.Model):
    """The percolator's state of a saved search."""

    saved = models.OneToOneField(
        SavedSearch, on_delete=models.CASCADE, primary_key=True, related_name="percolator_query"
    )
    query = models.CharField(max_length=1_000)  # that its index terms are of
    refusal = models.CharField(max_length=300, blank=True)  # why it cannot be percolated; then it has no index terms
    weighed = models.CharField(max_length=1_000, blank=True, db_default="")  # the query that its `Relevance` is of
    importance = models.FloatField(default=1.0)  # set by the user; 1 is the default
    counted = models.FloatField(db_default=0.0)  # of that, at the last update of the sources' interest

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(importance__gte=0, importance__lte=10), name="standing_importance"),
        ]
        indexes = [
            models.Index(
                fields=["saved"],
                condition=Q(refusal="") & ~Q(weighed=models.F("query")) & ~Q(query=""),
                name="percolator_query_unweighed",
            ),
        ]


class QueryTerm(models.Model):
    """A term that a posting must have to match one disjunct of a search.

    A posting in one of `languages` that has `term` and all of `beside` is a candidate; if the row is `exact`, it
    matches.
    """

    id = models.BigAutoField(primary_key=True)
    # The database does not check it: see Hit.
    saved = models.ForeignKey(SavedSearch, on_delete=models.CASCADE, related_name="query_terms", db_constraint=False)
    user_id = models.BigIntegerField()  # owner of the search
    term = models.TextField(db_collation="C")  # of the words of a posting, or of its source and the like (marked)
    beside = ArrayField(models.TextField(db_collation="C"), default=list)
    languages = models.BigIntegerField()  # one bit each
    exact = models.BooleanField(default=False)

    class Meta:
        # Covers the query for candidates: a posting reads a thousand rows, each on another page of the table.
        indexes = [
            models.Index(
                fields=["term"], include=["saved", "user_id", "languages", "exact", "beside"], name="anchor_term"
            ),
        ]


class Hit(models.Model):
    """A posting that a saved search found when it came.

    A posting may have a thousand hits, and checking two foreign keys of each would take longer than the rest. Instead
    `actions.matching.match` locks its postings, and a trigger writes deleted searches to `Revision`.
    """

    saved = models.ForeignKey(
        SavedSearch, on_delete=models.CASCADE, related_name="hits", db_index=False, db_constraint=False
    )
    posting = models.ForeignKey(Posting, on_delete=models.CASCADE, related_name="hits", db_constraint=False)
    source_id = models.BigIntegerField()  # the posting's
    published_at = models.DateTimeField()  # the posting's
    retrieved_at = models.DateTimeField()  # the posting's
    found_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["saved", "posting"], name="hit_once")]


class Rule(models.Model):
    """What happens with the hits of a saved search. Without a row they are only listed."""

    class Mail(models.TextChoices):
        NONE = "", _("No mail")
        ONCE = "once", _("Immediately")
        HOUR = "hour", _("Once an hour")
        DAY = "day", _("Once a day")

    saved = models.OneToOneField(SavedSearch, on_delete=models.CASCADE, primary_key=True, related_name="rule")
    mark_read = models.BooleanField(default=False)
    star = models.BooleanField(default=False)
    hide = models.BooleanField(default=False)
    highlight = models.BooleanField(default=False, db_default=False)  # words of the search, in lists
    tag = models.CharField(max_length=50, blank=True)
    mail = models.CharField(max_length=4, choices=Mail, default=Mail.NONE, blank=True)
    push = models.BooleanField(default=False)
    webhook_url = models.CharField(max_length=2_000, blank=True)
    webhook_secret = models.CharField(max_length=64, blank=True)  # signs its calls
    settings = models.JSONField(default=dict, blank=True)  # of other channels, by their names
    stop_token = models.CharField(max_length=43, unique=True)  # in the address that stops all messages with one click
    stopped_at = models.DateTimeField(null=True)  # stops messages; other effects continue


class NotificationSettings(models.Model):
    """When and how often a user is notified. Without a row the defaults apply."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, primary_key=True, related_name="notification_settings")
    quiet_from = models.TimeField(null=True)  # in the person's zone; both or none
    quiet_until = models.TimeField(null=True)
    digest_hour = models.PositiveSmallIntegerField(default=7)  # of the day
    most_a_day = models.PositiveIntegerField(default=50)  # mails and pushes; the rest waits for the daily digest

    class Meta:
        verbose_name_plural = "notification settings"
        constraints = [
            models.CheckConstraint(condition=Q(digest_hour__lte=23), name="wishes_digest_hour"),
            models.CheckConstraint(
                condition=Q(quiet_from__isnull=True, quiet_until__isnull=True)
                | Q(quiet_from__isnull=False, quiet_until__isnull=False),
                name="wishes_quiet_both",
            ),
        ]


class Browser(models.Model):
    """A browser with a Web Push subscription."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="push_browsers")
    endpoint = models.CharField(max_length=2_000, unique=True)  # the address of its push service
    public_key = models.CharField(max_length=100)  # p256dh, base64url
    secret = models.CharField(max_length=50)  # auth, base64url
    name = models.CharField(max_length=200, blank=True)  # self-declared
    added_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name or self.endpoint


class Destination(models.Model):
    """A service that a user sends articles to."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="destinations")
    service = models.CharField(max_length=20)  # a module of `send_to`
    name = models.CharField(max_length=100)
    settings = models.TextField()  # encrypted JSON, with the secrets
    added_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class VapidKey(models.Model):
    """The key by which push services know this portal (RFC 8292): one row, created at the first use."""

    id = models.SmallAutoField(primary_key=True)
    private_key = models.CharField(max_length=50)  # 32 bytes, base64url
    made_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="vapid_key_once")]


class Message(models.Model):
    """A notification of hits to a user on one channel, or an article that a user sends. It waits until `due_at`."""

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        SENT = "sent", _("Sent")
        FAILED = "failed", _("Failed")
        DROPPED = "dropped", _("Cancelled")

    id = models.BigAutoField(primary_key=True)
    key = models.UUIDField(unique=True)  # the same at each attempt, so that receivers can drop duplicates
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="alert_messages")
    channel = models.CharField(max_length=20)  # a module of `channels`
    # A digest has none: it is of several searches.
    saved = models.ForeignKey(SavedSearch, on_delete=models.CASCADE, null=True, related_name="messages")
    browser = models.ForeignKey(Browser, on_delete=models.SET_NULL, null=True, related_name="messages")
    hits = ArrayField(models.BigIntegerField())  # of Hit, in the order of their discovery
    # An article that the user sends somewhere; otherwise null.
    destination = models.ForeignKey(Destination, on_delete=models.CASCADE, null=True, related_name="messages")
    posting = models.ForeignKey(Posting, on_delete=models.CASCADE, null=True, related_name="+", db_index=False)
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    created_at = models.DateTimeField()
    due_at = models.DateTimeField()  # first attempt or next one
    lease_until = models.DateTimeField(null=True)  # a worker sends it until then
    attempts = models.PositiveSmallIntegerField(default=0)
    done_at = models.DateTimeField(null=True)
    error = models.CharField(max_length=300, blank=True)  # of the last attempt

    class Meta:
        indexes = [
            models.Index(fields=["due_at"], condition=Q(state="waiting"), name="message_due"),
            models.Index(fields=["user"], condition=Q(state="waiting"), name="message_waiting"),
            models.Index(fields=["user", "-id"], name="message_of_user"),
            models.Index(fields=["user", "-id"], condition=Q(state="failed"), name="message_dead"),
            models.Index(
                fields=["user", "done_at"], condition=Q(state="sent") & ~Q(channel="webhook"), name="message_told"
            ),
            models.Index(fields=["done_at"], condition=Q(done_at__isnull=False), name="message_done"),
            models.Index(fields=["posting"], condition=Q(posting__isnull=False), name="message_of_posting"),
        ]


class Attempt(models.Model):
    """A delivery attempt of a message: the delivery log."""

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="log")
    at = models.DateTimeField()
    took = models.FloatField()  # s
    status = models.PositiveSmallIntegerField(null=True)  # of HTTP or SMTP; null without a response
    error = models.CharField(max_length=300, blank=True)  # empty: delivered


class Profile(models.Model):
    """The heaviest terms of a source's newest documents, by their numbers in the index, of unit length."""

    source = models.OneToOneField(Source, on_delete=models.CASCADE, primary_key=True, related_name="profile")
    documents = models.IntegerField()  # that it was read from
    terms = models.BinaryField()  # int32
    weights = models.BinaryField()  # float32
    read_at = models.DateTimeField()


class Relevance(models.Model):
    """How relevant a source is to a search, by the vector space model; of each search only the most relevant ones."""

    saved = models.ForeignKey(SavedSearch, on_delete=models.CASCADE, related_name="relevances", db_index=False)
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="relevances")
    value = models.FloatField()  # above 0, up to 1

    class Meta:
        constraints = [models.UniqueConstraint(fields=["saved", "source"], name="relevance_once")]
