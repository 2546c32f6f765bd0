from datetime import datetime, timedelta

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.sources.models import Source

OVERLAP = timedelta(minutes=1)  # during which deliveries may still be signed with the former secret


class Subscription(models.Model):
    """A subscription to a source's updates at a hub (WebSub) or an rssCloud server.

    A request counts as a failure until it is confirmed, so requests that are never confirmed need no other handling.
    `due_at` is when the next request is sent: the first, a repetition, a renewal or the last; null after the end.
    """

    class Kind(models.TextChoices):
        WEBSUB = "websub", _("WebSub")
        RSSCLOUD = "rsscloud", _("rssCloud")

    class State(models.TextChoices):
        PENDING = "pending", _("Requested, not confirmed yet")
        ACTIVE = "active", _("Active")
        DENIED = "denied", _("Denied")
        FAILED = "failed", _("Failed: retried once a week")
        ENDING = "ending", _("Ending")
        ENDED = "ended", _("Ended")

    # Null once the source is deleted: its hub still gets a request to unsubscribe.
    source = models.ForeignKey(Source, on_delete=models.SET_NULL, null=True, related_name="subscriptions")
    kind = models.CharField(max_length=10, choices=Kind)
    hub = models.TextField()  # the address as `Announcer.hub_url` has it
    topic = models.TextField()
    token = models.CharField(max_length=64, unique=True)  # unguessable: proves that the caller is the hub
    callback = models.TextField()  # our own address, which ends in the token
    # Deliveries are signed with it; hubs without TLS get none. Each request offers a new one, valid once confirmed.
    secret = models.CharField(max_length=200, blank=True)
    offered_secret = models.CharField(max_length=200, blank=True)
    former_secret = models.CharField(max_length=200, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    requested_at = models.DateTimeField(null=True)
    verified_at = models.DateTimeField(null=True)
    lease_seconds = models.PositiveBigIntegerField(null=True)  # as granted
    expires_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)
    failures = models.PositiveSmallIntegerField(default=0)  # requests in a row that were not confirmed
    last_error = models.CharField(max_length=300, blank=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["source"], condition=~Q(state__in=["ending", "ended"]), name="subscription_is_one"
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="subscription_due"),
            models.Index(fields=["expires_at"], condition=Q(expires_at__isnull=False), name="subscription_expires"),
        ]

    @property
    def is_unconfirmed(self) -> bool:
        """Whether a request still waits for its confirmation."""
        return self.failures > 0 and self.state in {self.State.PENDING, self.State.ACTIVE, self.State.FAILED}

    def secrets_at(self, moment: datetime) -> list[str]:
        """The secrets that a delivery received at a moment may be signed with; none if it needs no signature."""
        is_former_valid = self.verified_at is not None and moment <= self.verified_at + OVERLAP
        known = (self.secret, self.offered_secret, self.former_secret if is_former_valid else "")
        return [secret for secret in known if secret]


class Delivery(models.Model):
    """A request to a callback, stored unchanged until it is processed."""

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        STORED = "stored", _("Stored")
        CHECKING = "asked", _("Feed is being checked")
        IGNORED = "ignored", _("Ignored")
        FAILED = "failed", _("Failed")

    subscription = models.ForeignKey(Subscription, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    received_at = models.DateTimeField()
    body = models.BinaryField()  # emptied once it is processed
    size = models.PositiveIntegerField()  # bytes
    content_type = models.CharField(max_length=300, blank=True)
    content_encoding = models.CharField(max_length=100, blank=True)
    signature = models.CharField(max_length=300, blank=True)  # the header
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    error = models.CharField(max_length=300, blank=True)
    new = models.PositiveIntegerField(default=0)
    edited = models.PositiveIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    tried_at = models.DateTimeField(null=True)  # when the latest attempt began
    done_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [
            models.Index(fields=["subscription", "-received_at"], name="delivery_of_subscription"),
            models.Index(fields=["received_at"], name="delivery_time"),
            models.Index(fields=["received_at"], condition=Q(state="waiting"), name="delivery_waiting"),
        ]

    @property
    def done_in(self) -> timedelta | None:
        return None if self.done_at is None else self.done_at - self.received_at
