"""What people's rules say of new hits is done."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime, time

from apps.accounts.models import User
from apps.alerts.actions.found import NewHit
from apps.alerts.actions.laying import Slot, lay
from apps.alerts.algorithms.times import end_of_quiet, next_at, next_hour
from apps.alerts.models import Browser, Message, Rule, Wishes
from apps.alerts.queries.messages import wishes_of, zone_of
from apps.following.actions import mark_for_all, tag_for_all
from apps.stories.actions import hide_for_all

Channel = Message.Channel


def obey(hits: Sequence[NewHit], *, now: datetime) -> None:
    """Mark, hide and tag what was found, and have people told of it, as the rule of each search says.

    Part of the caller's transaction: hits are obeyed exactly when they are kept. The number of statements is fixed.
    """
    rows = Rule.objects.filter(pk__in={hit.saved_id for hit in hits}).select_related("saved__user__alert_wishes")
    rules = {rule.pk: rule for rule in rows}
    obeyed = [(hit, rules[hit.saved_id]) for hit in hits if hit.saved_id in rules]
    _mark(obeyed, now)
    browsers = _browsers({rule.saved.user_id for rule in rules.values() if rule.push})
    slots = {rule.pk: _slots(rule, browsers[rule.saved.user_id], now) for rule in rules.values() if not rule.stopped_at}
    hits_by_slot: defaultdict[Slot, list[int]] = defaultdict(list)
    for hit in hits:
        for slot in slots.get(hit.saved_id, ()):
            hits_by_slot[slot].append(hit.id)
    if hits_by_slot:
        lay(hits_by_slot, now=now)


def _mark(obeyed: Sequence[tuple[NewHit, Rule]], now: datetime) -> None:
    if read := [(hit.user_id, hit.posting_id) for hit, rule in obeyed if rule.mark_read]:
        mark_for_all(read, now=now, read=True)
    if starred := [(hit.user_id, hit.posting_id) for hit, rule in obeyed if rule.star]:
        mark_for_all(starred, now=now, starred_at=now)
    if hidden := [(hit.user_id, hit.posting_id) for hit, rule in obeyed if rule.hide]:
        hide_for_all(hidden, now=now)
    if tagged := [(hit.user_id, rule.tag, hit.posting_id) for hit, rule in obeyed if rule.tag]:
        tag_for_all(tagged, now=now)


def _browsers(user_ids: Collection[int]) -> defaultdict[int, list[int]]:
    browsers: defaultdict[int, list[int]] = defaultdict(list)
    if user_ids:
        for user_id, browser_id in Browser.objects.filter(user__in=user_ids).values_list("user_id", "pk"):
            browsers[user_id].append(browser_id)
    return browsers


def _slots(rule: Rule, browsers: Sequence[int], now: datetime) -> list[Slot]:
    """Where the hits of a rule's search are laid that come now."""
    user, saved_id = rule.saved.user, rule.pk
    wishes = wishes_of(user)
    spoken = _after_quiet(now, user, wishes)
    slots = []
    if rule.mail and user.email:
        match rule.mail:
            case Rule.Mail.ONCE:
                slots.append(Slot(user.pk, Channel.MAIL, saved_id, None, spoken))
            case Rule.Mail.HOUR:
                due_at = _after_quiet(next_hour(now, zone_of(user)), user, wishes)
                slots.append(Slot(user.pk, Channel.DIGEST, None, None, due_at))
            case Rule.Mail.DAY:  # at the hour that the person chose, quiet or not
                slots.append(Slot(user.pk, Channel.DIGEST, None, None, digest_of_day(user, wishes, now)))
    if rule.push:
        slots += [Slot(user.pk, Channel.PUSH, saved_id, browser_id, spoken) for browser_id in browsers]
    if rule.webhook_url:  # machines have no quiet hours
        slots.append(Slot(user.pk, Channel.WEBHOOK, saved_id, None, now))
    return slots


def _after_quiet(instant: datetime, user: User, wishes: Wishes) -> datetime:
    if wishes.quiet_from is None or wishes.quiet_until is None:
        return instant
    return end_of_quiet(instant, wishes.quiet_from, wishes.quiet_until, zone_of(user)) or instant


def digest_of_day(user: User, wishes: Wishes, now: datetime) -> datetime:
    """When the person's next digest of the day is sent."""
    return next_at(time(wishes.digest_hour), now, zone_of(user))
