"""Digests by mail: hits of several searches, at the full hour or once a day."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, time

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.alerts.algorithms.times import next_at, next_hour
from apps.alerts.channels import DIGEST, MessageKey, Occasion, mail
from apps.alerts.models import Rule
from apps.alerts.queries.messages import notification_settings_of, zone_of


def message_keys(occasion: Occasion) -> Iterator[MessageKey]:
    user, now = occasion.user, occasion.now
    if occasion.rule.mail == Rule.Mail.HOUR and user.email:
        yield occasion.message_key(DIGEST, occasion.after_quiet(next_hour(now, zone_of(user))))
    if occasion.rule.mail == Rule.Mail.DAY and user.email:  # at the hour that the person chose, quiet or not
        yield occasion.message_key(DIGEST, digest_of_day(user, now))


def digest_of_day(user: User, now: datetime) -> datetime:
    """When the person's next digest of the day is sent."""
    return next_at(time(notification_settings_of(user).digest_hour), now, zone_of(user))


CHANNEL = replace(
    mail.CHANNEL,
    label=_("Mail digest"),
    message_keys=message_keys,
    wanted=~Q(mail=Rule.Mail.NONE) | Q(push=True),  # it may hold a push beyond the daily limit
)
