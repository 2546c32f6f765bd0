"""Searches that a person keeps, what is done with what they find, and when the person is told."""

from collections.abc import Iterator
from datetime import time
from typing import Any

from apps.account_data.formats.records import Record, document_of, record, record_list
from apps.account_data.members.base import Taking
from apps.accounts.models import User
from apps.alerts.actions import rules
from apps.alerts.channels import with_settings
from apps.alerts.models import NotificationSettings, PercolatorQuery, Rule
from apps.following.actions import NotPossible
from apps.search.actions import saved as saving
from apps.search.algorithms.language import BadQuery
from apps.search.models import SavedSearch
from apps.search.queries.saved import saved_searches

SEARCHES, WISHES = "searches.json", "wishes.json"
CHOICES = ("mark_read", "star", "hide", "push")


def write_searches(user: User) -> Iterator[bytes]:
    """Without the secrets of their feeds' addresses and webhooks' signatures, which are this portal's."""
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
    told = {name: getattr(rule, name) for name in CHOICES}
    return told | {"tag": rule.tag, "mail": rule.mail, "webhook_url": rule.webhook_url, "settings": rule.settings}


def take_searches(taking: Taking) -> None:
    """One of the name of a search that is here stays out."""
    names = set(saved_searches(taking.user).values_list("name", flat=True))
    for found in record_list(taking.container, SEARCHES, most=saving.MAX_SAVED):
        name = found.text("name", longest=saving.MAX_NAME_LENGTH)
        if name in names:
            continue
        order = found.text("order", longest=9, otherwise=SavedSearch.Order.RELEVANCE)
        if order not in SavedSearch.Order.values:
            raise found.bad("“order” is unknown.")
        query = found.text("query", longest=1_000)
        try:
            saved = saving.save_search(taking.user, name, query, order=SavedSearch.Order(order), now=taking.now)
            rules.set_importance(taking.user, saved.pk, found.number("importance", otherwise=1.0))
            if rule := found.inner("rule"):
                _take_rule(taking, saved, rule)
        except (BadQuery, saving.NotSaved, NotPossible) as problem:
            raise found.bad(str(problem)) from problem
        taking.restored[SEARCHES] += 1


def _take_rule(taking: Taking, saved: SavedSearch, rule: Record) -> None:
    mail = rule.text("mail", longest=4, otherwise="")
    if mail and not taking.user.email:
        taking.remarks.append(f"“{saved.name}” sends no mail, because your account has no e-mail address.")
        mail = ""
    values: dict[str, Any] = {name: bool(rule.truth(name, otherwise=False)) for name in CHOICES}
    if settings := rule.inner("settings"):
        names = [channel.name for channel in with_settings()]
        values |= {name: settings.text(name, longest=2_000, otherwise="") for name in names}
    rules.set_rule(
        taking.user,
        saved.pk,
        **values,
        tag=rule.text("tag", longest=50, otherwise=""),
        mail=mail,
        webhook_url=rule.text("webhook_url", longest=2_000, otherwise=""),
    )


def write_notification_settings(user: User) -> Iterator[bytes]:
    wishes = NotificationSettings.objects.filter(user=user).first()
    if wishes is not None:
        told = {name: getattr(wishes, name) for name in ("quiet_from", "quiet_until", "digest_hour", "most_a_day")}
        yield document_of(told)


def take_notification_settings(taking: Taking) -> None:
    found = record(taking.container, WISHES)
    if found is None or NotificationSettings.objects.filter(user=taking.user).exists():
        return
    try:
        rules.set_notification_settings(
            taking.user,
            quiet_from=_time(found, "quiet_from"),
            quiet_until=_time(found, "quiet_until"),
            digest_hour=int(found.number("digest_hour", otherwise=7)),
            most_a_day=int(found.number("most_a_day", otherwise=50)),
        )
    except NotPossible as problem:
        raise found.bad(str(problem)) from problem
    taking.restored[WISHES] += 1


def _time(found: Record, name: str) -> time | None:
    if found.values.get(name) is None:
        return None
    try:
        return time.fromisoformat(found.text(name, longest=20)).replace(tzinfo=None)
    except ValueError:
        raise found.bad(f"“{name}” is not a time of day.") from None
