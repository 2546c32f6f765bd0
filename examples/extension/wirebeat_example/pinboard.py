"""Articles as bookmarks of Pinboard: https://pinboard.in/api/."""

from urllib.parse import urlencode

from django.utils.translation import gettext_lazy as _

from apps.alerts.channels import DeliveryResult, exchange
from apps.alerts.queries.messages import Finding
from apps.alerts.send_to import Service, Settings
from apps.retrieval.http.fetching import FetchRequest

ADDRESS = "https://api.pinboard.in/v1/posts/add"


def send(article: Finding, settings: Settings) -> DeliveryResult:
    query = {"auth_token": settings["token"], "url": article.url, "description": article.title}
    return exchange(FetchRequest(f"{ADDRESS}?{urlencode(query)}", accept="*/*", body_limit=0))[0]


SERVICE = Service(label=_("Pinboard"), fields={"token": _("API token")}, send=send)
