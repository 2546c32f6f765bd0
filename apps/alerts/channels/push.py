"""Messages to browsers (Web Push): encrypted for the one browser (RFC 8291), from a portal known by its key (8292)."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parseaddr
from urllib.parse import urlsplit

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings
from django.db.models import Q
from django.urls import reverse
from django.utils import translation
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from py_vapid import Vapid02

from apps.accounts.queries.site import own_address
from apps.alerts.algorithms.signing import decode_base64url
from apps.alerts.channels import Channel, Delivery, DeliveryResult, MessageKey, Occasion, post
from apps.alerts.models import Browser, Message, VapidKey
from apps.alerts.queries.messages import Group

LIVES = timedelta(days=1)  # after that the push service drops the message
TOKEN_LIVES = timedelta(hours=12)  # at most a day
MAX_TITLE_LENGTH, MAX_BODY_LENGTH = 120, 300  # characters; push services take 4,096 bytes at most
TITLES = 3  # that are named


def message_keys(occasion: Occasion) -> Iterator[MessageKey]:
    if occasion.rule.push:
        due_at = occasion.after_quiet(occasion.now)
        for browser_id in occasion.browsers:
            yield occasion.message_key("push", due_at, browser_id=browser_id)


def send(delivery: Delivery, now: datetime) -> DeliveryResult:
    message, browser = delivery.message, delivery.message.browser
    assert browser is not None
    headers = {
        "Content-Type": "application/octet-stream",
        "Content-Encoding": "aes128gcm",
        "TTL": str(int(LIVES.total_seconds())),
        "Topic": message.key.hex,  # a repeated message replaces an undelivered one
        "Urgency": "normal",
        "Authorization": _token(browser.endpoint, now),
    }
    return post(browser.endpoint, _encrypted(_payload(message, delivery.groups), browser), headers)


def public_push_key() -> str:
    """The portal's public key for subscribing browsers; base64url."""
    point = _key().public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return urlsafe_base64_encode(point)


def _payload(message: Message, groups: Sequence[Group]) -> bytes:
    [group] = groups
    titles = [finding.title for finding in group.findings]
    if len(titles) == 1:
        [finding] = group.findings
        title, body, url = group.name, f"{finding.title}\n{finding.source}", finding.page
    else:
        with translation.override(message.user.language or settings.LANGUAGE_CODE):
            title = _("{search}: {number} new").format(search=group.name, number=len(titles))
        body = "\n".join(title[:100] for title in titles[:TITLES])
        url = own_address(reverse("alert_found", args=[group.saved_id]))
    shown = {"title": title[:MAX_TITLE_LENGTH], "body": body[:MAX_BODY_LENGTH], "url": url, "tag": str(message.key)}
    return json.dumps(shown, ensure_ascii=False).encode()


def _encrypted(payload: bytes, browser: Browser) -> bytes:
    once = ec.generate_private_key(ec.SECP256R1())
    encrypted: bytes = http_ece.encrypt(
        payload,
        private_key=once,
        dh=decode_base64url(browser.public_key),
        auth_secret=decode_base64url(browser.secret),
        version="aes128gcm",
    )
    return encrypted


def _token(endpoint: str, now: datetime) -> str:
    service = urlsplit(endpoint)
    # The key identifies the portal; the address is a contact for the push service.
    vapid = Vapid02(_key(), conf={"no-strict": True})
    claims = {
        "aud": f"{service.scheme}://{service.netloc}",
        "exp": int((now + TOKEN_LIVES).timestamp()),
        "sub": f"mailto:{parseaddr(settings.DEFAULT_FROM_EMAIL)[1]}",
    }
    return str(vapid.sign(claims)["Authorization"])


def _key() -> ec.EllipticCurvePrivateKey:
    row = VapidKey.objects.first()
    if row is None:
        number = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
        made = VapidKey(pk=1, private_key=urlsafe_base64_encode(number.to_bytes(32)), made_at=datetime.now(UTC))
        VapidKey.objects.bulk_create([made], ignore_conflicts=True)  # of two at once, the first one's key stays
        row = VapidKey.objects.get()
    return ec.derive_private_key(int.from_bytes(decode_base64url(row.private_key)), ec.SECP256R1())


def _lost(message: Message) -> str:
    return "" if message.browser else "The browser no longer accepts messages."


CHANNEL = Channel(label=gettext_lazy("Browser"), message_keys=message_keys, send=send, wanted=Q(push=True), lost=_lost)
