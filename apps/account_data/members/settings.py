"""The account itself and its preferences, saved searches with the rules of their alerts, and notification settings."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import Model

from apps.account_data.formats.records import Record, document_of, record, record_list
from apps.account_data.members.base import Import
from apps.account_data.members.marks import options_in, options_of
from apps.accounts import actions, queries
from apps.accounts.models import User
from apps.alerts.actions import rules
from apps.alerts.channels import with_settings
from apps.alerts.models import NotificationSettings, PercolatorQuery, Rule
from apps.following.actions.errors import NotPossible
from apps.search.actions import saved as saving
from apps.search.algorithms.language import BadQuery
from apps.search.models import SavedSearch
from apps.search.queries.saved import saved_searches
from apps.stories.actions.learning import set_learning
from apps.stories.queries import front as tastes

SEARCHES, NOTIFICATIONS = "searches.json", "notifications.json"
KNOWN_OF_SEARCHES = {"name", "query", "saved_at", "secret"}
DERIVED = {"query", "refusal", "weighed", "counted"}  # of a search for the percolator
NOT_OF_RULES = {"webhook_secret", "stop_token", "stopped_at"}  # valid on this portal alone


def write_searches(user: User) -> Iterator[bytes]:
    """Without secrets, which are valid on this portal alone."""
    yield document_of([_written(saved) for saved in saved_searches(user).select_related("rule", "percolator_query")])


def _written(saved: SavedSearch) -> dict[str, Any]:
    query, rule = getattr(saved, "percolator_query", PercolatorQuery()), getattr(saved, "rule", None)
    own = options_of(saved, {"secret"}) | options_of(query, DERIVED)
    return own | {"rule": options_of(rule, NOT_OF_RULES) if rule else None}


def take_searches(running: Import) -> None:
    """Skips a search if another one has its name."""
    names = set(saved_searches(running.user).values_list("name", flat=True))
    for found in record_list(running.container, SEARCHES, most=saving.MAX_SAVED):
        name = found.text("name", longest=saving.MAX_NAME_LENGTH)
        if name in names:
            continue
        query, options = found.text("query", longest=1_000), options_in(found, SavedSearch, KNOWN_OF_SEARCHES)
        order = SavedSearch.Order(options.get("order", SavedSearch.Order.RELEVANCE))
        importance = options_in(found, PercolatorQuery, DERIVED).get("importance", 1.0)
        try:
            saved = saving.save_search(running.user, name, query, order=order, now=running.now)
            rules.set_importance(running.user, saved.pk, importance)
            if rule := found.inner("rule"):
                _take_rule(running, saved, rule)
        except (BadQuery, saving.NotSaved, NotPossible) as problem:
            raise found.bad(str(problem)) from problem
        running.restored[SEARCHES] += 1


def _take_rule(running: Import, saved: SavedSearch, rule: Record) -> None:
    values = options_in(rule, Rule, {*NOT_OF_RULES, "settings"})
    if values.get("mail") and not running.user.email:
        running.remarks.append(f"“{saved.name}” sends no mail, because your account has no email address.")
        values["mail"] = ""
    if settings := rule.inner("settings"):
        names = [channel.name for channel in with_settings()]
        values |= {name: settings.text(name, longest=2_000, otherwise="") for name in names}
    rules.set_rule(running.user, saved.pk, **values)


def write_notification_settings(user: User) -> Iterator[bytes]:
    for settings in NotificationSettings.objects.filter(user=user):
        yield document_of(options_of(settings, ()))


def take_notification_settings(running: Import) -> None:
    found = record(running.container, NOTIFICATIONS)
    if found is None or NotificationSettings.objects.filter(user=running.user).exists():
        return
    try:
        rules.set_notification_settings(running.user, **options_in(found, NotificationSettings, ()))
    except NotPossible as problem:
        raise found.bad(str(problem)) from problem
    running.restored[NOTIFICATIONS] += 1


ACCOUNT = "account.json"
MAX_PREFERENCES = 200


def write_account(user: User) -> Iterator[bytes]:
    yield document_of(
        {name: getattr(user, name) for name in ("username", "first_name", "last_name", "email", "last_login")}
        | {
            "addresses": _rows(queries.email_addresses(user), email="email", verified="verified", primary="primary"),
            "joined": user.date_joined,
            "two_factor": queries.authenticator_kinds(user),
            "sessions": _rows(queries.sessions_of(user), ip="ip", browser="user_agent", began="created_at"),
            "app_tokens": _rows(
                queries.tokens_of(user), name="name", scopes="scopes", made="made_at", last_used="last_used_at"
            ),
            "preferences": queries.preferences_of(user),
            "learning": tastes.is_learning(user),
        }
    )


def _rows(rows: Iterable[Model], **columns: str) -> list[dict[str, Any]]:
    return [{name: getattr(row, column) for name, column in columns.items()} for row in rows]


def take_account(running: Import) -> None:
    """Imports preferences; name and addresses stay."""
    found = record(running.container, ACCOUNT)
    preferences = found.inner("preferences") if found else None
    if found is None or preferences is None:
        return
    if len(preferences.values) > MAX_PREFERENCES:
        raise found.bad(f"It has more than {MAX_PREFERENCES} preferences.")
    left_out = actions.restore_preferences(running.user, preferences.values)
    if left_out:
        running.remarks.append(f"Unknown preferences were skipped: {', '.join(left_out)[:300]}.")
    if found.values.get("learning") is False:
        set_learning(running.user, is_on=False)
    running.restored[ACCOUNT] += len(preferences.values) - len(left_out)
