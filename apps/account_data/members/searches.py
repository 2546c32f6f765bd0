"""Saved searches, the rules of their alerts, and notification settings."""

from collections.abc import Iterator
from datetime import time
from typing import Any

from apps.account_data.formats.records import Record, document_of, record, record_list
from apps.account_data.members.base import Import
from apps.accounts.models import User
from apps.alerts.actions import rules
from apps.alerts.channels import with_settings
from apps.alerts.models import NotificationSettings, PercolatorQuery, Rule
from apps.following.actions import NotPossible
from apps.search.actions import saved as saving
from apps.search.algorithms.language import BadQuery
from apps.search.models import SavedSearch
from apps.search.queries.saved import saved_searches

SEARCHES, NOTIFICATIONS = "searches.json", "wishes.json"
USUAL_NUMBERS = {"digest_hour": 7, "most_a_day": 50}
CHOICES = ("mark_read", "star", "hide", "push")


def write_searches(user: User) -> Iterator[bytes]:
    """Without secrets, which are valid on this portal alone."""
    kept = list(saved_searches(user))
    rule_of = {rule.pk: rule for rule in Rule.objects.filter(saved__in=kept)}
    importance = dict(PercolatorQuery.objects.filter(saved__in=kept).values_list("pk", "importance"))
    yield document_of(
        [
            {
                "name": saved.name,
                "query": saved.query,
                "order": saved.order,
                "saved_at": saved.saved_at,
                "importance": importance.get(saved.pk, 1.0),
                "rule": _rule(rule_of[saved.pk]) if saved.pk in rule_of else None,
            }
            for saved in kept
        ]
    )


def _rule(rule: Rule) -> dict[str, Any]:
    return {name: getattr(rule, name) for name in (*CHOICES, "tag", "mail", "webhook_url", "settings")}


def take_searches(running: Import) -> None:
    """Skips a search if another one has its name."""
    names = set(saved_searches(running.user).values_list("name", flat=True))
    for found in record_list(running.container, SEARCHES, most=saving.MAX_SAVED):
        name = found.text("name", longest=saving.MAX_NAME_LENGTH)
        if name in names:
            continue
        order = found.text("order", longest=9, otherwise=SavedSearch.Order.RELEVANCE)
        if order not in SavedSearch.Order.values:
            raise found.bad("“order” is unknown.")
        query = found.text("query", longest=1_000)
        try:
            saved = saving.save_search(running.user, name, query, order=SavedSearch.Order(order), now=running.now)
            rules.set_importance(running.user, saved.pk, found.number("importance", otherwise=1.0))
            if rule := found.inner("rule"):
                _take_rule(running, saved, rule)
        except (BadQuery, saving.NotSaved, NotPossible) as problem:
            raise found.bad(str(problem)) from problem
        running.restored[SEARCHES] += 1


def _take_rule(running: Import, saved: SavedSearch, rule: Record) -> None:
    mail = rule.text("mail", longest=4, otherwise="")
    if mail and not running.user.email:
        running.remarks.append(f"“{saved.name}” sends no mail, because your account has no e-mail address.")
        mail = ""
    values: dict[str, Any] = {name: bool(rule.truth(name, otherwise=False)) for name in CHOICES}
    if settings := rule.inner("settings"):
        names = [channel.name for channel in with_settings()]
        values |= {name: settings.text(name, longest=2_000, otherwise="") for name in names}
    rules.set_rule(
        running.user,
        saved.pk,
        **values,
        tag=rule.text("tag", longest=50, otherwise=""),
        mail=mail,
        webhook_url=rule.text("webhook_url", longest=2_000, otherwise=""),
    )


def write_notification_settings(user: User) -> Iterator[bytes]:
    names = ("quiet_from", "quiet_until", "digest_hour", "most_a_day")
    for values in NotificationSettings.objects.filter(user=user).values(*names):
        yield document_of(values)


def take_notification_settings(running: Import) -> None:
    found = record(running.container, NOTIFICATIONS)
    if found is None or NotificationSettings.objects.filter(user=running.user).exists():
        return
    try:
        rules.set_notification_settings(
            running.user,
            quiet_from=_time(found, "quiet_from"),
            quiet_until=_time(found, "quiet_until"),
            **{name: int(found.number(name, otherwise=usual)) for name, usual in USUAL_NUMBERS.items()},
        )
    except NotPossible as problem:
        raise found.bad(str(problem)) from problem
    running.restored[NOTIFICATIONS] += 1


def _time(found: Record, name: str) -> time | None:
    if found.values.get(name) is None:
        return None
    try:
        return time.fromisoformat(found.text(name, longest=20)).replace(tzinfo=None)
    except ValueError:
        raise found.bad(f"“{name}” is not a time of day.") from None
