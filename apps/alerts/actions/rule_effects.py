"""Apply rules to new hits."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from apps.alerts.actions.delivering import enqueue
from apps.alerts.channels import MessageKey, Occasion, all_channels
from apps.alerts.models import Browser, Rule
from apps.following.actions import mark_for_all, tag_for_all
from apps.stories.actions import hide_for_all


class NewHit(NamedTuple):
    id: int  # Hit
    saved_id: int
    user_id: int
    posting_id: int


def apply_rules(hits: Sequence[NewHit], *, now: datetime) -> None:
    """Mark, hide and tag postings and enqueue notifications by the rule of each search.

    Runs in the caller's transaction, so rules apply exactly to stored hits. The number of statements is fixed.
    """
    with_rules = Rule.objects.filter(pk__in={hit.saved_id for hit in hits})
    rows = with_rules.select_related("saved__user__notification_settings")
    rules = {rule.pk: rule for rule in rows}
    ruled = [(hit, rules[hit.saved_id]) for hit in hits if hit.saved_id in rules]
    _mark(ruled, now)
    browsers = _browsers({rule.saved.user_id for rule in rules.values() if rule.push})
    occasions = [Occasion(rule, browsers[rule.saved.user_id], now) for rule in rules.values() if not rule.stopped_at]
    keys = {
        occasion.rule.pk: [key for channel in all_channels().values() for key in channel.message_keys(occasion)]
        for occasion in occasions
    }
    hits_by_key: defaultdict[MessageKey, list[int]] = defaultdict(list)
    for hit in hits:
        for key in keys.get(hit.saved_id, ()):
            hits_by_key[key].append(hit.id)
    if hits_by_key:
        enqueue(hits_by_key, now=now)


def _mark(ruled: Sequence[tuple[NewHit, Rule]], now: datetime) -> None:
    if read := [(hit.user_id, hit.posting_id) for hit, rule in ruled if rule.mark_read]:
        mark_for_all(read, now=now, read=True)
    if starred := [(hit.user_id, hit.posting_id) for hit, rule in ruled if rule.star]:
        mark_for_all(starred, now=now, starred_at=now)
    if hidden := [(hit.user_id, hit.posting_id) for hit, rule in ruled if rule.hide]:
        hide_for_all(hidden, now=now)
    if tagged := [(hit.user_id, rule.tag, hit.posting_id) for hit, rule in ruled if rule.tag]:
        tag_for_all(tagged, now=now)


def _browsers(user_ids: Collection[int]) -> defaultdict[int, list[int]]:
    browsers: defaultdict[int, list[int]] = defaultdict(list)
    if user_ids:
        for user_id, browser_id in Browser.objects.filter(user__in=user_ids).values_list("user_id", "pk"):
            browsers[user_id].append(browser_id)
    return browsers
