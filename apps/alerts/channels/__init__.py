"""Delivery channels: each module of this package defines `CHANNEL`, a `Channel`, and is registered by being here.

`Message.channel` stores the module's name. A channel decides which messages hits are put into, and how a message is
delivered. Settings of mail, push and webhooks are columns of `Rule`; those of any other channel, from its form
`field`, are in `Rule.settings` under its name.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple

from django import forms
from django.db.models import Q
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.alerts.algorithms.times import end_of_quiet
from apps.alerts.models import Message, Rule
from apps.alerts.queries.messages import Group, notification_settings_of, zone_of
from apps.database.registry import entries
from apps.following.actions.errors import NotPossible
from apps.retrieval.algorithms.politeness import retry_after
from apps.retrieval.http import guard
from apps.retrieval.http.fetching import Fetched, FetchRequest
from apps.retrieval.http.robots import fetch_all
from apps.sources.algorithms.addresses import BadAddress

DIGEST = "digest"  # takes what exceeds the daily limit

_TEMPORARY = frozenset({408, 425, 429})  # client errors that may pass


class DeliveryResult(NamedTuple):
    """The result of an attempt. Without an error the message was accepted."""

    status: int | None = None  # of HTTP or SMTP; None without a response
    error: str = ""  # a sentence for people
    is_lasting: bool = False  # another attempt is likely to fail, too
    retry_after: float | None = None  # s, the receiver's Retry-After
    is_gone: bool = False  # the receiver no longer exists


class MessageKey(NamedTuple):
    """Identifies a message: hits with the same key go together."""

    user_id: int
    channel: str
    saved_id: int | None
    browser_id: int | None
    due_at: datetime

    @property
    def place(self) -> tuple[object, ...]:
        """What an open message has in common with the keys of the hits that it takes."""
        return self if self.channel == DIGEST else self[:-1]


class Occasion(NamedTuple):
    """New hits of a search, and the rule of their notification."""

    rule: Rule
    browsers: Sequence[int]  # of the user
    now: datetime

    @property
    def user(self) -> User:
        return self.rule.saved.user

    def after_quiet(self, at: datetime) -> datetime:
        """The time, or the end of the user's quiet hours around it."""
        settings = notification_settings_of(self.user)
        begins, ends = settings.quiet_from, settings.quiet_until
        if begins is None or ends is None:
            return at
        return end_of_quiet(at, begins, ends, zone_of(self.user)) or at

    def message_key(self, channel: str, due_at: datetime, *, browser_id: int | None = None) -> MessageKey:
        """The key of the message for the hits; a digest collects those of several searches."""
        return MessageKey(self.user.pk, channel, None if channel == DIGEST else self.rule.pk, browser_id, due_at)


class Delivery(NamedTuple):
    """A leased message to deliver."""

    message: Message
    groups: Sequence[Group]
    rules: Sequence[Rule]  # of the groups
    stop_token: str  # stops all messages of these rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """The interface of a module: what varies between channels."""

    label: Promise  # of its messages, for people
    message_keys: Callable[[Occasion], Iterable[MessageKey]]  # the messages that hits are put into
    send: Callable[[Delivery, datetime], DeliveryResult]  # deliver a message, with the same key at each attempt
    wanted: Q | None = None  # the rules whose hits it still delivers; by default those with a setting of it
    lease: timedelta = timedelta(seconds=60)  # longer than an attempt may take
    lost: Callable[[Message], str] = lambda _message: ""  # why a message can never be delivered, "" if it can
    is_counted: bool = True  # towards the user's daily limit; otherwise those of one search are throttled
    field: Callable[[], forms.Field] | None = None  # its setting, in the form of rules
    check: Callable[[str], str] = str  # normalizes the setting; raises NotPossible
    name: str = ""  # the module's


@cache
def all_channels() -> Mapping[str, Channel]:
    """The channels by their names."""
    return {
        name: replace(channel, name=name, wanted=channel.wanted or Q(settings__has_key=name))
        for name, channel in entries(__name__, "CHANNEL", group="wirebeat.channels")
    }


def with_settings() -> list[Channel]:
    """The channels whose settings are in `Rule.settings`."""
    return [channel for channel in all_channels().values() if channel.field]


def uncounted() -> list[str]:
    """The channels without a daily limit."""
    return [channel.name for channel in all_channels().values() if not channel.is_counted]


def post(url: str, body: bytes, headers: Mapping[str, str]) -> DeliveryResult:
    """Post to an address with the same network guard as retrievals; redirects are not followed."""
    return exchange(FetchRequest(url, message=body, headers=headers, accept="*/*", body_limit=0))[0]


def exchange(request: FetchRequest) -> tuple[DeliveryResult, bytes]:
    """Send a request with the same network guard as retrievals; returns the result, and the body of the response."""
    [fetched] = fetch_all([request])
    return _result_of(fetched), fetched.body


def _result_of(fetched: Fetched) -> DeliveryResult:
    status, failure = fetched.status, fetched.failure
    if 200 <= status < 300:  # even if reading the body has failed
        return DeliveryResult(status)
    if status:
        error = f"The server answered with status {status}."
        if 300 <= status < 400:
            error = f"It redirects (status {status}), which is not followed: enter the final address."
        return DeliveryResult(
            status,
            error,
            is_lasting=status < 500 and status not in _TEMPORARY,
            retry_after=retry_after(fetched.headers, fetched.received_at) if status in {429, 503} else None,
            is_gone=status in {404, 410},
        )
    assert failure is not None
    if failure.kind == "refused_address":
        error = "Its address is in a private or reserved network; nothing was sent."
        return DeliveryResult(error=error, is_lasting=True)
    return DeliveryResult(error=failure.message, is_lasting=failure.kind == "bad_address")


def checked_address(address: str) -> str:
    """An address that may be called, or raises `NotPossible`. Names are resolved and checked at each call."""
    guarding = guard.configured()
    try:
        url = guarding.check(address)
    except BadAddress as problem:
        raise NotPossible(_("The address cannot be used. {problem}").format(problem=problem)) from None
    except guard.RefusedAddress:
        raise NotPossible(_("The port in the address is not a web port.")) from None
    if guarding.is_refused_on_its_face(url):
        raise NotPossible(_("The address is in a private or reserved network, which is not allowed."))
    return str(url.href)


def safe_address(address: str) -> str:
    """An address that secrets may be sent to, or raises `NotPossible`: by https, unless an admin opened the host."""
    url = guard.configured().check(checked_address(address))
    if url.protocol != "https:" and not guard.configured().opens(url):
        raise NotPossible(_("The address has to begin with https://, so that no one can read your password."))
    return str(url.href)
