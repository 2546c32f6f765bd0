"""Delivery channels: each module of the package is one, and adding a module adds a channel."""

from pathlib import Path

import pytest
from django.urls import reverse

from apps.alerts.actions.delivering import deliver
from apps.alerts.actions.rules import set_rule
from apps.alerts.channels import all_channels
from apps.alerts.models import Message, Rule
from apps.following.actions.errors import NotPossible
from tests.apps.alerts.delivering import a_search, find, the_message
from tests.builders import NOON
from tests.registries import with_module

pytestmark = pytest.mark.django_db(transaction=True)

PAGER = """
from django import forms
from django.utils.translation import gettext_lazy as _

from apps.alerts.channels import Channel, DeliveryResult
from apps.following.actions.errors import NotPossible

def message_keys(occasion):
    if "pager" in occasion.rule.settings:
        yield occasion.message_key("pager", occasion.after_quiet(occasion.now))

def send(delivery, now):
    [group], [rule] = delivery.groups, delivery.rules
    return DeliveryResult(status=200, error="" if rule.settings["pager"] == "12345" else "Wrong number")

def check(number):
    if not number.isdecimal():
        raise NotPossible("This is no number of a pager.")
    return number

def field():
    return forms.CharField(required=False, max_length=20, label="Pager")

CHANNEL = Channel(label=_("Pager"), message_keys=message_keys, send=send, field=field, check=check)
"""


@pytest.fixture
def _pager(tmp_path: Path):
    with with_module("apps.alerts.channels", "pager", PAGER, tmp_path, all_channels):
        yield


@pytest.mark.parametrize("name", all_channels())
def test_every_module_is_a_channel_that_says_which_rules_use_it(name):
    channel = all_channels()[name]
    assert channel.name == name
    assert channel.label
    assert len(name) <= Message._meta.get_field("channel").max_length
    assert not Rule.objects.filter(channel.wanted).exists()


@pytest.mark.usefixtures("_pager")
def test_a_new_module_is_a_new_channel(client):
    saved = a_search(name="Mine", pager="12345")
    find(saved)
    message = the_message(channel="pager")
    assert deliver(message.pk, now=NOON)
    assert the_message().state == Message.State.SENT
    client.force_login(saved.user)
    page = client.get(reverse("alert_rule", args=[saved.pk]))
    assert 'value="12345"' in page.text
    assert "Pager" in client.get(reverse("alert_messages")).text
    with pytest.raises(NotPossible, match="no number"):
        set_rule(saved.user, saved.pk, pager="me")


@pytest.mark.usefixtures("_pager")
def test_a_message_of_a_channel_without_a_setting_is_dropped():
    saved = a_search(name="Mine", pager="12345")
    find(saved)
    set_rule(saved.user, saved.pk)
    assert not deliver(the_message().pk, now=NOON)
    assert the_message().state == Message.State.DROPPED


def test_a_message_whose_channel_was_removed_is_dropped():
    saved = a_search(name="Mine", push=True)
    [hit] = find(saved)
    message = Message.objects.create(
        key="00000000-0000-0000-0000-000000000001", user=saved.user, channel="pager", saved=saved, hits=[hit.id],
        created_at=NOON, due_at=NOON,
    )  # fmt: skip
    assert not deliver(message.pk, now=NOON)
    message.refresh_from_db()
    assert message.state == Message.State.DROPPED
