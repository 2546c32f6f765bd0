"""Instapaper, by its Simple API: https://www.instapaper.com/api/simple. A second save moves the article to the top."""

import base64
from urllib.parse import urlencode

from django.utils.translation import gettext_lazy as _

from apps.alerts.channels import DeliveryResult, post
from apps.alerts.queries.messages import Finding
from apps.alerts.send_to import Service, Settings

ADDRESS = "https://www.instapaper.com/api/add"


def send(article: Finding, settings: Settings) -> DeliveryResult:
    credentials = base64.b64encode(f"{settings['username']}:{settings['password']}".encode()).decode()
    headers = {"Authorization": f"Basic {credentials}", "Content-Type": "application/x-www-form-urlencoded"}
    return post(ADDRESS, urlencode({"url": article.url, "title": article.title}).encode(), headers)


FIELDS = {"username": _("Email address or username"), "password": _("Password")}
SERVICE = Service(label=_("Instapaper"), fields=FIELDS, send=send)
