"""Services that articles are sent to: each module of this package defines `SERVICE`, and is registered by being here.

An article that a user sends is a `Message` to a `Destination`, delivered, retried and logged like notifications.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.alerts.channels import Channel, Delivery, DeliveryResult, exchange, safe_address
from apps.alerts.models import Destination
from apps.alerts.queries.messages import Finding
from apps.database.encryption import decrypt, encrypt
from apps.database.registry import entries
from apps.retrieval.http.fetching import FetchRequest

Settings = Mapping[str, str]
NAME = "send_to"  # what `Message.channel` stores
SECRETS = frozenset({"token", "password", "client_secret"})  # fields that are not shown while they are entered
SERVER = _("Address of your server, https://…")


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The interface of a module: what varies between services."""

    label: Promise
    fields: Mapping[str, Any]  # what the user enters: labels, and fields that are no line of text
    send: Callable[[Finding, Settings], DeliveryResult]  # may be called again for the same article
    check: Callable[[User, Settings], Settings] = lambda _user, settings: settings  # normalizes; raises NotPossible
    # The address that the user's browser opens instead of a delivery; "" if the portal delivers.
    link: Callable[[Finding, Settings], str] = lambda _article, _settings: ""
    name: str = ""  # the module's


@cache
def all_services() -> Mapping[str, Service]:
    """The services by their names."""
    found = entries(__name__, "SERVICE", group="wirebeat.send_to")
    return {name: replace(service, name=name) for name, service in found}


# --- for modules ------------------------------------------------------------------------------------------------------
def check_server(_user: User, settings: Settings) -> Settings:
    return {**settings, "server": safe_address(settings["server"]).rstrip("/")}


def post_json(url: str, values: Mapping[str, object], authorization: str) -> DeliveryResult:
    headers = {"Content-Type": "application/json", "Authorization": authorization}
    return exchange(FetchRequest(url, message=json.dumps(values).encode(), headers=headers, accept="*/*"))[0]


# --- destinations -----------------------------------------------------------------------------------------------------
def encrypted(settings: Settings) -> str:
    return encrypt(json.dumps(dict(settings)))


def settings_of(destination: Destination) -> Settings | None:
    """None if the portal's secret key has changed since they were entered."""
    plain = decrypt(destination.settings)
    return None if plain is None else json.loads(plain)


def link_of(destination: Destination, article: Finding) -> str:
    service, settings = all_services().get(destination.service), settings_of(destination)
    return service.link(article, settings) if service and settings is not None else ""


def _send(delivery: Delivery, now: datetime) -> DeliveryResult:
    destination, [group] = delivery.message.destination, delivery.groups
    assert destination is not None
    service, settings = all_services().get(destination.service), settings_of(destination)
    if service is None:
        return DeliveryResult(error="Its extension is no longer installed.", is_lasting=True)
    if settings is None:
        error = "The portal's secret key has changed: remove the service, and add it again."
        return DeliveryResult(error=error, is_lasting=True)
    return service.send(group.findings[0], settings)


CHANNEL = Channel(
    label=_("Send to"),
    message_keys=lambda _occasion: (),
    send=_send,
    lease=timedelta(minutes=3),  # of two requests
    is_counted=False,
    name=NAME,
)
