"""Wallabag: https://doc.wallabag.org/developer/api/oauth/ (OAuth 2 with the user's own client)."""

import json
from urllib.parse import urlencode

from django.utils.translation import gettext_lazy as _

from apps.alerts.channels import DeliveryResult, exchange
from apps.alerts.queries.messages import Finding
from apps.alerts.send_to import SERVER, Service, Settings, check_server, post_json
from apps.retrieval.http.fetching import FetchRequest

MAX_TOKEN_BYTES = 64 * 2**10
CREDENTIALS = ("client_id", "client_secret", "username", "password")


def send(article: Finding, settings: Settings) -> DeliveryResult:
    form = {"grant_type": "password"} | {name: settings[name] for name in CREDENTIALS}
    request = FetchRequest(
        f"{settings['server']}/oauth/v2/token",
        message=urlencode(form).encode(),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
        accept="application/json",
        body_limit=MAX_TOKEN_BYTES,
    )
    result, body = exchange(request)
    if result.error:
        return result
    try:
        token = json.loads(body)["access_token"]
    except (ValueError, TypeError, KeyError):
        return DeliveryResult(result.status, "The server's answer contains no access token.", is_lasting=True)
    entry = {"url": article.url, "title": article.title}
    return post_json(f"{settings['server']}/api/entries.json", entry, f"Bearer {token}")


SERVICE = Service(
    label=_("Wallabag"),
    fields={
        "server": SERVER,
        "client_id": _("Client ID, from “API clients management” in Wallabag"),
        "client_secret": _("Client secret"),
        "username": _("Username"),
        "password": _("Password"),
    },
    send=send,
    check=check_server,
)
