"""Mails: text and HTML, grouped by search, with a link that stops them."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from smtplib import SMTPException, SMTPRecipientsRefused, SMTPResponseException

from django.conf import settings
from django.core.mail import BadHeaderError, EmailMessage, EmailMultiAlternatives, get_connection
from django.db.models import Q
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.queries.site import own_address, own_host
from apps.alerts.channels import Channel, Delivery, DeliveryResult, MessageKey, Occasion
from apps.alerts.models import Rule
from apps.alerts.queries.messages import Group, stop_page, zone_of

ACCEPTED = 250  # SMTP: completed
MAX_SUBJECT_LENGTH = 150  # characters


def message_keys(occasion: Occasion) -> Iterator[MessageKey]:
    if occasion.rule.mail == Rule.Mail.ONCE and occasion.user.email:
        yield occasion.message_key("mail", occasion.after_quiet(occasion.now))


def send(delivery: Delivery, now: datetime) -> DeliveryResult:
    """Send a mail, with the same Message-ID at each attempt, so that servers can drop duplicates."""
    with translation.override(delivery.message.user.language or settings.LANGUAGE_CODE):
        return send_mail(_mail(delivery))


def send_mail(mail: EmailMessage) -> DeliveryResult:
    try:
        connection = get_connection()
        connection.open()
        connection.send_messages([mail])
    except SMTPRecipientsRefused as refusal:
        status, words = next(iter(refusal.recipients.values()))
        return _refused(status, words)
    except SMTPResponseException as refusal:
        return _refused(refusal.smtp_code, refusal.smtp_error)
    except BadHeaderError:
        return DeliveryResult(error="The address of your account cannot receive mail.", is_lasting=True)
    except (SMTPException, OSError) as error:
        return DeliveryResult(error=f"The mail server could not be reached: {error}."[:300])
    with suppress(SMTPException, OSError):  # the mail was accepted already
        connection.close()
    return DeliveryResult(ACCEPTED)


def _refused(status: int, words: bytes | str) -> DeliveryResult:
    text = words.decode("utf-8", "replace") if isinstance(words, bytes) else words
    return DeliveryResult(
        status, f"The mail server refused it: {status} {' '.join(text.split())}"[:300], is_lasting=status >= 500
    )


def _mail(delivery: Delivery) -> EmailMultiAlternatives:
    user, groups, stop_url = delivery.message.user, delivery.groups, stop_page(delivery.stop_token)
    context = {
        "groups": groups,
        "count": _count(groups),
        "stop_url": stop_url,
        "portal_url": own_address("/"),
        "person": user.get_username(),
        "zone": zone_of(user),
    }
    mail = EmailMultiAlternatives(
        subject=_subject(groups),
        body=render_to_string("alerts/mail.txt", context),
        from_email=settings.DEFAULT_FROM_EMAIL,
        to=[user.email],
        headers={
            "Message-ID": f"<{delivery.message.key}@{own_host()}>",
            "List-Unsubscribe": f"<{stop_url}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",  # RFC 8058
            "Auto-Submitted": "auto-generated",
        },
    )
    mail.attach_alternative(render_to_string("alerts/mail.html", context), "text/html")
    return mail


def _count(groups: Sequence[Group]) -> int:
    return sum(len(group.findings) for group in groups)


def _subject(groups: Sequence[Group]) -> str:
    count = _count(groups)
    if len(groups) > 1:
        subject = _("{number} new in {searches} searches").format(number=count, searches=len(groups))
    elif count > 1:
        subject = _("{search}: {number} new").format(search=groups[0].name, number=count)
    else:
        subject = f"{groups[0].name}: {groups[0].findings[0].title}"
    return header_of(subject)


def header_of(text: str) -> str:
    """A text as a mail's subject: characters that a header cannot hold become blanks."""
    tidy = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(tidy.split())[:MAX_SUBJECT_LENGTH]


CHANNEL = Channel(
    label=gettext_lazy("Mail"),
    message_keys=message_keys,
    send=send,
    wanted=~Q(mail=Rule.Mail.NONE),
    lease=timedelta(minutes=4),  # mail servers may be slow at each step
)
