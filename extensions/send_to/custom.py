"""An address of the user's own, with the article's values in it; the browser opens it, or the portal requests it."""

from urllib.parse import quote

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.models import User
from apps.alerts.channels import DeliveryResult, checked_address, exchange
from apps.alerts.queries.messages import Finding
from apps.alerts.send_to import Service, Settings
from apps.following.actions.errors import NotPossible
from apps.retrieval.http.fetching import FetchRequest

BROWSER, PORTAL = "browser", "portal"
WAYS = [
    (BROWSER, gettext_lazy("in a new tab of the browser, where you may be signed in")),
    (PORTAL, gettext_lazy("requested by the portal, again if it fails")),
]


def check(_user: User, settings: Settings) -> Settings:
    template = settings["template"].strip()
    before, brace, _rest = template.partition("{")
    # Values belong behind the host: an article must not choose the server.
    if not brace or before.count("/") < 3 or "{url}" not in template:
        raise NotPossible(_("The address needs {url} after the name of the server."))
    checked_address(template.replace("{", "").replace("}", ""))
    return {"template": template, "way": settings["way"]}


def send(article: Finding, settings: Settings) -> DeliveryResult:
    return exchange(FetchRequest(_filled(settings["template"], article), accept="*/*", body_limit=0))[0]


def link(article: Finding, settings: Settings) -> str:
    return _filled(settings["template"], article) if settings["way"] == BROWSER else ""


def _filled(template: str, article: Finding) -> str:
    """An address with the values of an article, percent-encoded, in place of {url}, {title} and {source}."""
    for name in ("url", "title", "source"):
        template = template.replace(f"{{{name}}}", quote(getattr(article, name), safe=""))
    return template


FIELDS = {
    "template": gettext_lazy("Address, with {url}, {title} and {source} in place of the article's"),
    "way": lambda: forms.ChoiceField(choices=WAYS, label=gettext_lazy("It is opened")),
}
SERVICE = Service(label=gettext_lazy("Custom address"), fields=FIELDS, send=send, check=check, link=link)
