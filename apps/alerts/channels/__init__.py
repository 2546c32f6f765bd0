"""Delivery channels, each a module of this package that defines `CHANNEL`, a `Channel`.

The module's name is what `Message.channel` stores; being in this package is all that registers it. A channel says into
which messages hits are put, and how a message is delivered. What people set of mail, push and webhooks are columns of
`Rule`; what they set of any other channel, in its form `field`, is in `Rule.settings` under the channel's name.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import NamedTuple

from django import forms
from django.db.models import Q
from django.utils.functional import Promise

from apps.accounts.models import User
from apps.alerts.algorithms.times import end_of_quiet
from apps.alerts.models import Message, NotificationSettings, Rule
from apps.alerts.queries.contents import Group
from apps.alerts.queries.messages import notification_settings_of, zone_of
from apps.database.registry import entries
from apps.retrieval.algorithms.politeness import retry_after
from apps.retrieval.http.fetching import Failure, Fetched, FetchRequest
from apps.retrieval.http.robots import make_fetcher

DIGEST = "digest"  # which takes what is over the limit of a day

_NOT_NOW = frozenset({408, 425, 429})  # of those that blame us, the ones that another time may please


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """What came of an attempt. Without an error it was taken."""

    status: int | None = None  # of HTTP or SMTP; None where no answer came
    error: str = ""  # a sentence for people
    is_lasting: bool = False  # another attempt is likely to end the same way
    wish: float | None = None  # s until the other side wants to hear of us again
    is_gone: bool = False  # nobody lives there any more, for good


class MessageKey(NamedTuple):
    """Where hits are laid: those of one slot go together."""

    user_id: int
    channel: str
    saved_id: int | None
    browser_id: int | None
    due_at: datetime

    @property
    def place(self) -> tuple[object, ...]:
        """What an open message has in common with the slots whose hits it takes."""
        return self if self.channel == DIGEST else self[:-1]


@dataclass(frozen=True, slots=True)
class Occasion:
    """Hits of a search that came now, and the rule by which its person is told of them."""

    rule: Rule
    browsers: Sequence[int]  # of the person
    now: datetime

    @property
    def user(self) -> User:
        return self.rule.saved.user

    @property
    def settings(self) -> NotificationSettings:
        return notification_settings_of(self.user)

    def after_quiet(self, instant: datetime) -> datetime:
        """The instant, or the end of the person's quiet hours that it lies in."""
        begins, ends = self.settings.quiet_from, self.settings.quiet_until
        if begins is None or ends is None:
            return instant
        return end_of_quiet(instant, begins, ends, zone_of(self.user)) or instant

    def message_key(self, channel: str, due_at: datetime, *, browser_id: int | None = None) -> MessageKey:
        """Where the hits are laid; a digest gathers those of several searches."""
        return MessageKey(self.user.pk, channel, None if channel == DIGEST else self.rule.pk, browser_id, due_at)


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message to deliver until its lease is over."""

    message: Message
    groups: Sequence[Group]
    rules: Sequence[Rule]  # of the groups
    stop_token: str  # stops all messages of these rules


def _never(message: Message) -> str:
    return ""


def _used(name: str) -> Q:
    return Q(settings__has_key=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """The interface of a module: what varies between channels."""

    label: Promise  # of its messages, for people
    message_keys: Callable[[Occasion], Iterable[MessageKey]]  # where hits are laid
    send: Callable[
        [Delivery, datetime], DeliveryResult
    ]  # deliver a message; the key of a message is the same at each attempt
    wanted: Q | None = None  # the rules whose hits it still delivers; by default those with a setting of it
    lease: timedelta = timedelta(seconds=60)  # longer than an attempt may take
    lost: Callable[[Message], str] = _never  # why a message can never be delivered any more, "" if it can
    is_counted: bool = True  # towards the person's limit of messages a day; else those of one search are throttled
    field: Callable[[], forms.Field] | None = None  # of the form of rules, for its setting
    check: Callable[[str], str] = str  # the setting as it is kept; raises NotPossible if it cannot be
    name: str = ""  # the module's


@cache
def all_channels() -> Mapping[str, Channel]:
    """The channels by their names."""
    return {
        name: replace(channel, name=name, wanted=channel.wanted or _used(name))
        for name, channel in entries(__name__, "CHANNEL")
    }


def with_settings() -> list[Channel]:
    """The channels whose settings are in `Rule.settings`."""
    return [channel for channel in all_channels().values() if channel.field]


def uncounted() -> list[str]:
    """The channels of programs rather than people, which have no limit of messages a day."""
    return [channel.name for channel in all_channels().values() if not channel.is_counted]


def post(url: str, body: bytes, headers: Mapping[str, str]) -> DeliveryResult:
    """Post something to an address, guarded like sources are, and never to where it redirects."""
    fetched = asyncio.run(_ask(FetchRequest(url, message=body, headers=headers, accept="*/*", body_limit=0)))
    # What stands in the answer is nobody's business: its status counts, whatever came of its body.
    if 200 <= fetched.status < 300:
        return DeliveryResult(fetched.status)
    if fetched.status:
        return _refusal(fetched)
    assert fetched.failure is not None
    return _silence(fetched.failure)


async def _ask(request: FetchRequest) -> Fetched:
    async with make_fetcher(lambda: datetime.now(UTC)) as fetcher:
        return await fetcher.fetch(request)


def _refusal(fetched: Fetched) -> DeliveryResult:
    status = fetched.status
    error = f"The server answered with status {status}."
    if 300 <= status < 400:
        error = f"It redirects (status {status}), which is not followed: enter the final address."
    return DeliveryResult(
        status,
        error,
        is_lasting=status < 500 and status not in _NOT_NOW,
        wish=retry_after(fetched.headers, fetched.received_at) if status in {429, 503} else None,
        is_gone=status in {404, 410},
    )


def _silence(failure: Failure) -> DeliveryResult:
    if failure.kind == "refused_address":
        return DeliveryResult(
            error="Its address is in a private or reserved network; nothing was sent.", is_lasting=True
        )
    return DeliveryResult(error=failure.message, is_lasting=failure.kind == "bad_address")
