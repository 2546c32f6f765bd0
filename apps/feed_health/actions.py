"""The only writers of notices. Each is one transaction and may be called twice."""

import logging
from datetime import datetime, timedelta
from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.core.mail import BadHeaderError, EmailMessage
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.accounts.queries.site import own_address, own_host
from apps.database.advisory_locks import take
from apps.database.statements import execute
from apps.feed_health import queries
from apps.feed_health.models import MailSetting, Notice
from apps.following.queries import FAILURES_SHOWN

logger = logging.getLogger(__name__)

NOTIFYING = 0x4E4F_5449  # advisory lock: one worker creates notices
NOTIFY_AFTER = timedelta(days=1)  # of failures; most sources recover earlier
BATCH_SIZE = 500  # changes of sources, of each kind, in one transaction
MAILED_AT_ONCE = 100  # users
MAX_IN_MAIL = 50  # notices
KEPT = timedelta(days=90)  # notices

# The address of a source and whether it has ended when it is first followed: no notice is created of that.
_BEGIN = """
INSERT INTO feed_health_condition (source_id, url, broken_since, is_gone)
SELECT source.id, source.url, NULL, source.state = 'gone' FROM sources_source source
WHERE EXISTS (SELECT FROM following_follow follow WHERE follow.source_id = source.id)
    AND NOT EXISTS (SELECT FROM feed_health_condition known WHERE known.source_id = source.id)
ON CONFLICT DO NOTHING
"""
_NOTIFY = """
INSERT INTO feed_health_notice (user_id, source_id, kind, at, address, created_at)
SELECT follow.user_id, changed.source_id, %(kind)s, changed.at, changed.address, %(now)s
FROM changed JOIN following_follow follow ON follow.source_id = changed.source_id AND NOT follow.muted
ON CONFLICT DO NOTHING
"""
_BROKEN = f"""
WITH changed AS (
    UPDATE feed_health_condition condition SET broken_since = schedule.failing_since
    FROM retrieval_schedule schedule WHERE schedule.source_id = condition.source_id AND schedule.source_id IN (
        SELECT failing.source_id FROM retrieval_schedule failing
        JOIN feed_health_condition known ON known.source_id = failing.source_id AND known.broken_since IS NULL
        JOIN sources_source source ON source.id = failing.source_id AND source.state = 'active'
        WHERE failing.failing_since <= %(before)s AND failing.consecutive_failures >= %(failures)s
        ORDER BY failing.source_id LIMIT %(most)s)
    RETURNING condition.source_id, condition.broken_since AS at, '' AS address
) {_NOTIFY}
"""
# Only users who were notified of the failure are notified of the recovery, and the former notice is dismissed.
_WELL = """
WITH well AS (
    UPDATE feed_health_condition condition SET broken_since = NULL WHERE condition.source_id IN (
        SELECT known.source_id FROM feed_health_condition known
        JOIN retrieval_schedule schedule ON schedule.source_id = known.source_id
        WHERE known.broken_since IS NOT NULL AND schedule.consecutive_failures = 0
        ORDER BY known.source_id LIMIT %(most)s)
    RETURNING condition.source_id
), settled AS (
    UPDATE feed_health_notice notice SET dismissed_at = coalesce(notice.dismissed_at, %(now)s)
    FROM well WHERE notice.source_id = well.source_id AND notice.kind = 'broken'
), notified AS (
    SELECT DISTINCT notice.user_id, notice.source_id FROM feed_health_notice notice
    JOIN well ON well.source_id = notice.source_id
    JOIN following_follow follow ON follow.source_id = notice.source_id AND follow.user_id = notice.user_id
    WHERE notice.kind = 'broken' AND notice.at > coalesce((
        SELECT max(earlier.at) FROM feed_health_notice earlier
        WHERE earlier.user_id = notice.user_id AND earlier.source_id = notice.source_id AND earlier.kind = 'well'
    ), '-infinity')
)
INSERT INTO feed_health_notice (user_id, source_id, kind, at, address, created_at)
SELECT user_id, source_id, 'well', %(now)s, '', %(now)s FROM notified ON CONFLICT DO NOTHING
"""
_MOVED = f"""
WITH changed AS (
    UPDATE feed_health_condition condition SET url = source.url FROM sources_source source
    WHERE source.id = condition.source_id AND condition.source_id IN (
        SELECT known.source_id FROM feed_health_condition known JOIN sources_source moved ON moved.id = known.source_id
        WHERE moved.url <> known.url ORDER BY known.source_id LIMIT %(most)s)
    RETURNING condition.source_id, %(now)s::timestamptz AS at, source.url AS address
) {_NOTIFY}
"""
_GONE = f"""
WITH changed AS (
    UPDATE feed_health_condition condition SET is_gone = source.state = 'gone' FROM sources_source source
    WHERE source.id = condition.source_id AND condition.is_gone <> (source.state = 'gone')
    RETURNING condition.source_id, %(now)s::timestamptz AS at, '' AS address, condition.is_gone
) {_NOTIFY.replace("NOT follow.muted", "NOT follow.muted AND changed.is_gone")}
"""


@transaction.atomic
def notify_followers(*, now: datetime) -> dict[str, int]:
    """Notify the followers of sources, once, that one has been failing for a day, works again, moved or ended.

    Returns how many notices of each kind were created; nothing if another worker holds the lock.
    """
    if not take(NOTIFYING, wait=False):
        return {}
    values: dict[str, Any] = {
        "now": now,
        "before": now - NOTIFY_AFTER,
        "failures": FAILURES_SHOWN,
        "most": BATCH_SIZE,
    }
    execute(_BEGIN)
    statements = {"broken": _BROKEN, "well": _WELL, "moved": _MOVED, "gone": _GONE}
    return {kind: execute(statement, values | {"kind": kind}) for kind, statement in statements.items()}


def dismiss(user: User, notice_id: int, *, now: datetime) -> bool:
    """Dismiss one of the user's notices; False if there is no such notice."""
    return bool(Notice.objects.filter(user=user, pk=notice_id).update(dismissed_at=now))


def dismiss_all(user: User, *, up_to: int, now: datetime) -> int:
    """Dismiss all notices that a page showed, but not later ones; returns how many."""
    return queries.open_notices(user).filter(pk__lte=up_to).order_by().update(dismissed_at=now)


def set_mail(user: User, *, is_wanted: bool, now: datetime) -> None:
    """Switch notices by mail on or off."""
    if is_wanted:
        MailSetting.objects.get_or_create(user=user, defaults={"since": now})
    else:
        MailSetting.objects.filter(user=user).delete()


def mail(*, now: datetime) -> int:
    """Send open notices by mail, one mail to each user; returns how many. Failed mails are retried the next time."""
    user_ids = queries.to_be_mailed().order_by("user_id").values_list("user_id", flat=True).distinct()[:MAILED_AT_ONCE]
    sent = 0
    for user_id in list(user_ids):
        try:
            sent += _mail(user_id, now)
        except (SMTPException, OSError, BadHeaderError) as error:
            logger.warning("notices for user %s could not be mailed: %s", user_id, error)
    return sent


@transaction.atomic
def _mail(user_id: int, now: datetime) -> bool:
    """Notices are marked in the transaction that sends the mail, so a failure rolls that back."""
    waiting = queries.to_be_mailed().filter(user=user_id).select_related("source", "user").order_by("pk")
    notices = list(waiting.select_for_update(skip_locked=True, of=("self",))[:MAX_IN_MAIL])
    if not notices:
        return False
    Notice.objects.filter(pk__in=[notice.pk for notice in notices]).update(mailed_at=now)
    person = notices[0].user
    context = {"notices": notices, "address": own_address(reverse("feed_health")), "person": person.get_username()}
    subject = ngettext("Update on one of your feeds", "Updates on {count} of your feeds", len(notices))
    EmailMessage(
        subject=subject.format(count=len(notices)),
        body=render_to_string("feed_health/mail.txt", context),
        from_email=settings.DEFAULT_FROM_EMAIL,
        to=[person.email],
        # The same for each attempt, so that servers recognise duplicates.
        headers={"Message-ID": f"<notices-{notices[-1].pk}@{own_host()}>", "Auto-Submitted": "auto-generated"},
    ).send()
    return True


def forget_old(*, now: datetime) -> int:
    """Delete old notices."""
    return Notice.objects.filter(created_at__lt=now - KEPT).delete()[0]
