"""Alerts to a topic of ntfy, a server of notifications: https://docs.ntfy.sh/publish/."""

from collections.abc import Iterator
from datetime import datetime

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.alerts.channels import Channel, Delivery, DeliveryResult, MessageKey, Occasion, post


def message_keys(occasion: Occasion) -> Iterator[MessageKey]:
    if "ntfy" in occasion.rule.settings:
        yield occasion.message_key("ntfy", occasion.after_quiet(occasion.now))


def send(delivery: Delivery, now: datetime) -> DeliveryResult:
    [rule], [group] = delivery.rules, delivery.groups
    body = "\n".join(finding.title for finding in group.findings)
    return post(rule.settings["ntfy"], body.encode(), {"Title": group.name, "Content-Type": "text/plain"})


def field() -> forms.Field:
    return forms.URLField(required=False, max_length=500, assume_scheme="https", label=_("Address of an ntfy topic"))


CHANNEL = Channel(label=_("ntfy"), message_keys=message_keys, send=send, field=field)
