"""Webhooks by the Standard Webhooks specification."""

import json
from collections.abc import Iterator
from datetime import datetime
from uuid import uuid4

from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.models import User
from apps.accounts.queries.site import own_address
from apps.alerts.algorithms.signing import signed
from apps.alerts.channels import Channel, Delivery, DeliveryResult, MessageKey, Occasion, post
from apps.alerts.models import Rule
from apps.alerts.queries.messages import Finding, Group
from apps.following.actions.errors import NotPossible

FOUND, TEST = "search.found", "search.test"


def message_keys(occasion: Occasion) -> Iterator[MessageKey]:
    if occasion.rule.webhook_url:  # programs have no quiet hours
        yield occasion.message_key("webhook", occasion.now)


def send(delivery: Delivery, now: datetime) -> DeliveryResult:
    """The same body and id at each attempt; only the timestamp differs."""
    [group], [rule] = delivery.groups, delivery.rules
    body = _body(FOUND, group, made_at=delivery.message.created_at)
    return _call(rule, body, key=str(delivery.message.key), now=now)


def test_webhook(user: User, saved_id: int, *, now: datetime) -> DeliveryResult:
    """Send a sample to the webhook of a search, or raise `NotPossible`."""
    rule = Rule.objects.filter(saved__user=user, pk=saved_id).exclude(webhook_url="").select_related("saved").first()
    if rule is None:
        raise NotPossible(_("This search has no webhook."))
    sample = Finding("A sample", "", own_address("/"), "Wirebeat", now)
    group = Group(saved_id, rule.saved.name, rule.saved.query, (sample,))
    return _call(rule, _body(TEST, group, made_at=now), key=str(uuid4()), now=now)


def _call(rule: Rule, body: bytes, *, key: str, now: datetime) -> DeliveryResult:
    headers = signed(body, rule.webhook_secret, key=key, timestamp=int(now.timestamp()))
    return post(rule.webhook_url, body, headers | {"Content-Type": "application/json"})


def _body(kind: str, group: Group, *, made_at: datetime) -> bytes:
    hits = [each._asdict() | {"published_at": each.published_at.isoformat()} for each in group.findings]
    search = {"id": group.saved_id, "name": group.name, "query": group.query}
    event = {"type": kind, "timestamp": made_at.isoformat(), "data": {"search": search, "hits": hits}}
    return json.dumps(event, ensure_ascii=False).encode()


CHANNEL = Channel(
    label=gettext_lazy("Webhook"), message_keys=message_keys, send=send, wanted=~Q(webhook_url=""), is_counted=False
)
