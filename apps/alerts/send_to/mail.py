"""Mail to one of the user's own confirmed addresses: others could be sent unwanted mail."""

from django.conf import settings as portal
from django.core.mail import EmailMessage
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts import queries as accounts
from apps.accounts.models import User
from apps.accounts.queries.site import sends_mail
from apps.alerts.channels import DeliveryResult
from apps.alerts.channels.mail import header_of, send_mail
from apps.alerts.queries.messages import Finding
from apps.alerts.send_to import Service, Settings
from apps.following.actions.errors import NotPossible


def check(user: User, settings: Settings) -> Settings:
    if not sends_mail():
        raise NotPossible(_("This portal cannot send mail: its administrator has to set up a mail server first."))
    own = {each.email.lower(): each.email for each in accounts.email_addresses(user) if each.verified}
    address = own.get(settings["address"].strip().lower())
    if address is None:
        raise NotPossible(_("Add this address to your account and confirm it first."))
    return {"address": address}


def send(article: Finding, settings: Settings) -> DeliveryResult:
    mail = EmailMessage(
        subject=header_of(article.title),
        body=f"{article.title}\n{article.source}\n\n{article.url}\n",
        from_email=portal.DEFAULT_FROM_EMAIL,
        to=[settings["address"]],
        headers={"Auto-Submitted": "auto-generated"},
    )
    return send_mail(mail)


FIELDS = {"address": gettext_lazy("One of your confirmed addresses")}
SERVICE = Service(label=gettext_lazy("Email"), fields=FIELDS, send=send, check=check)
