"""Readwise Reader: https://readwise.io/reader_api. An address that it already has is answered with 200."""

from django.utils.translation import gettext_lazy as _

from apps.alerts.channels import DeliveryResult
from apps.alerts.queries.messages import Finding
from apps.alerts.send_to import Service, Settings, post_json

ADDRESS = "https://readwise.io/api/v3/save/"


def send(article: Finding, settings: Settings) -> DeliveryResult:
    document = {
        "url": article.url,
        "title": article.title,
        "published_date": article.published_at.isoformat(),
        "saved_using": "Wirebeat",
    }
    return post_json(ADDRESS, document, f"Token {settings['token']}")


FIELDS = {"token": _("Access token, from readwise.io/access_token")}
SERVICE = Service(label=_("Readwise Reader"), fields=FIELDS, send=send)
