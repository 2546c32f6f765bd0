"""Rules, notification settings and browsers of users. Each action is one idempotent transaction."""

import secrets
from collections.abc import Sequence
from datetime import datetime, time

from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.alerts.algorithms.signing import decode_base64url, new_secret
from apps.alerts.channels import checked_address, with_settings
from apps.alerts.models import Browser, Message, NotificationSettings, PercolatorQuery, Rule
from apps.database.sanitizing import sanitize
from apps.following.actions.errors import NotPossible
from apps.following.actions.marks import checked_tag
from apps.retrieval.http import guard
from apps.search.models import SavedSearch
from apps.sources.algorithms.addresses import BadAddress

MAX_WEBHOOKS = 20  # per user
MAX_BROWSERS = 20  # per user
MAX_A_DAY = 1_000  # upper bound of the user's limit of mails and pushes
MAX_IMPORTANCE = 10.0
PUBLIC_KEY_BYTES, SECRET_BYTES = 65, 16  # of a browser: an uncompressed point of P-256; RFC 8291
_SIGNER = Signer(salt="alerts.stop")


@transaction.atomic
def set_rule(
    user: User,
    saved_id: int,
    *,
    mark_read: bool = False,
    star: bool = False,
    hide: bool = False,
    highlight: bool = False,
    tag: str = "",
    mail: str = "",
    push: bool = False,
    webhook_url: str = "",
    **settings: str,
) -> Rule:
    """Set the rule of a search, or raise `NotPossible`. A webhook keeps the secret of its first address.

    `settings` are those of the channels that store theirs in `Rule.settings`.
    """
    User.objects.select_for_update().get(pk=user.pk)  # or two webhooks set at once could exceed the limit
    saved = _own(user, saved_id)
    if mail not in Rule.Mail.values:
        raise NotPossible(_("“{name}” is not a choice for mail.").format(name=mail))
    if mail and not user.email:
        raise NotPossible(_("Your account has no confirmed email address. Add or confirm one first."))
    webhook_url = webhook_url.strip()
    if webhook_url:
        webhook_url = checked_address(webhook_url)
        others = Rule.objects.filter(saved__user=user).exclude(webhook_url="").exclude(saved_id=saved_id)
        if others.count() >= MAX_WEBHOOKS:
            raise NotPossible(_("You can have at most {most} webhooks.").format(most=MAX_WEBHOOKS))
    rule, _is_new = Rule.objects.get_or_create(saved=saved, defaults={"stop_token": secrets.token_urlsafe(32)})
    rule.mark_read, rule.star, rule.hide, rule.highlight = mark_read, star, hide, highlight
    rule.tag = checked_tag(tag) if tag.strip() else ""
    rule.mail, rule.push, rule.webhook_url = mail, push, webhook_url
    rule.settings = {
        channel.name: channel.check(value)
        for channel in with_settings()
        if (value := settings.get(channel.name, "").strip())
    }
    if webhook_url and not rule.webhook_secret:
        rule.webhook_secret = new_secret(secrets.token_bytes(24))
    rule.save()
    return rule


def _own(user: User, saved_id: int) -> SavedSearch:
    saved = SavedSearch.objects.filter(user=user, pk=saved_id).first()
    if saved is None:
        raise NotPossible(_("You have no such saved search."))
    return saved


@transaction.atomic
def set_notification_settings(
    user: User,
    *,
    quiet_from: time | None = None,
    quiet_until: time | None = None,
    digest_hour: int = 7,
    most_a_day: int = 50,
) -> NotificationSettings:
    """Set when and how often a user is notified, in the user's time zone, or raise `NotPossible`."""
    if (quiet_from is None) != (quiet_until is None):
        raise NotPossible(_("Set both a start and an end for quiet hours."))
    if quiet_from is not None and quiet_from == quiet_until:
        raise NotPossible(_("Quiet hours cannot start and end at the same time."))
    if not 0 <= digest_hour <= 23:
        raise NotPossible(_("The hour of the daily digest must be between 0 and 23."))
    if not 0 <= most_a_day <= MAX_A_DAY:
        raise NotPossible(_("The limit of messages per day can be at most {most}.").format(most=f"{MAX_A_DAY:,}"))
    values = {
        "quiet_from": quiet_from,
        "quiet_until": quiet_until,
        "digest_hour": digest_hour,
        "most_a_day": most_a_day,
    }
    return NotificationSettings.objects.update_or_create(user=user, defaults=values)[0]


@transaction.atomic
def set_importance(user: User, saved_id: int, value: float) -> None:
    """Set the importance of a search relative to the user's others, or raise `NotPossible`."""
    if not 0.0 <= value <= MAX_IMPORTANCE:  # also catches nan
        raise NotPossible(
            _("The priority of a search must be between 0 and {highest}.").format(highest=f"{MAX_IMPORTANCE:g}")
        )
    saved = _own(user, saved_id)
    # What is to be weighed raises interests. A new row has no query: its index terms are still to be made.
    PercolatorQuery.objects.update_or_create(
        saved=saved,
        defaults={"importance": value, "weighed": ""},
        create_defaults={"importance": value, "query": ""},
    )


@transaction.atomic
def add_browser(user: User, *, endpoint: str, public_key: str, secret: str, name: str = "", now: datetime) -> Browser:
    """Register a browser, or raise `NotPossible`. One registered by another user before is moved to this user."""
    guarding = guard.configured()
    try:
        url = guarding.check(endpoint)
    except (BadAddress, guard.RefusedAddress):
        raise NotPossible(_("The browser's push service cannot be used.")) from None
    is_safe = url.protocol == "https:" or guarding.opens(url)
    if not is_safe or guarding.is_refused_on_its_face(url) or len(endpoint) > 2_000:
        raise NotPossible(_("The browser's push service cannot be used."))
    if len(_bytes(public_key)) != PUBLIC_KEY_BYTES or len(_bytes(secret)) != SECRET_BYTES:
        raise NotPossible(_("The browser's keys are not valid Web Push keys."))
    User.objects.select_for_update().get(pk=user.pk)
    if Browser.objects.filter(user=user).exclude(endpoint=url.href).count() >= MAX_BROWSERS:
        raise NotPossible(
            _("At most {most} browsers can show notifications. Remove one first.").format(most=MAX_BROWSERS)
        )
    # Messages of the former user must not reach the new one.
    forget_browsers(Browser.objects.filter(endpoint=url.href).exclude(user=user))
    values = {"user": user, "public_key": public_key, "secret": secret, "name": " ".join(name.split())[:200]}
    return Browser.objects.update_or_create(
        endpoint=str(url.href), defaults=values, create_defaults=values | {"added_at": now}
    )[0]


def _bytes(text: str) -> bytes:
    try:
        return decode_base64url(text)
    except ValueError:
        return b""


def remove_browser(user: User, browser_id: int) -> bool:
    return forget_browsers(Browser.objects.filter(user=user, pk=browser_id))


@transaction.atomic
def forget_browsers(browsers: QuerySet[Browser]) -> bool:
    """Delete browsers. Their waiting messages are dropped when due; the log stays. False if there were none."""
    # Lock messages first, as `enqueue` does, or there could be a deadlock.
    list(Message.objects.filter(browser__in=browsers).order_by("pk").select_for_update().values_list("pk"))
    return browsers.delete()[0] > 0


def stop(token: str, *, now: datetime) -> list[SavedSearch]:
    """Stop all messages of the searches of a stop token; returns the searches, none for an invalid token."""
    _rules_of(token).filter(stopped_at=None).update(stopped_at=now)
    return stopped_by(token)


def stopped_by(token: str) -> list[SavedSearch]:
    """The searches of a stop token."""
    return [rule.saved for rule in _rules_of(token).select_related("saved").order_by("saved__name")]


def stop_token_of(saved_ids: Sequence[int]) -> str:
    """A token that stops several searches at once, for digests."""
    return _SIGNER.sign_object(sorted(set(saved_ids)), compress=True)


def _rules_of(token: str) -> QuerySet[Rule]:
    try:
        several = _SIGNER.unsign_object(token) if ":" in token else []
    except BadSignature:
        several = []
    return Rule.objects.filter(Q(stop_token=sanitize(token)) | Q(pk__in=several))


def resume(user: User, saved_id: int) -> bool:
    """Resume messages of a search; False if they were not stopped."""
    return Rule.objects.filter(saved__user=user, pk=saved_id, stopped_at__isnull=False).update(stopped_at=None) > 0
