"""Linkding: https://linkding.link/api/. An address that it already has is updated."""

from django.utils.translation import gettext_lazy as _

from apps.alerts.channels import DeliveryResult
from apps.alerts.queries.messages import Finding
from apps.alerts.send_to import SERVER, Service, Settings, check_server, post_json


def send(article: Finding, settings: Settings) -> DeliveryResult:
    bookmark = {"url": article.url, "title": article.title, "unread": True}
    return post_json(f"{settings['server']}/api/bookmarks/", bookmark, f"Token {settings['token']}")


FIELDS = {"server": SERVER, "token": _("API token, from “Integrations” in Linkding's settings")}
SERVICE = Service(label=_("Linkding"), fields=FIELDS, send=send, check=check_server)
