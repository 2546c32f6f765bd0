"""The account itself, and its preferences."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import Model

from apps.account_data.formats.records import document_of, record
from apps.account_data.members.base import Import
from apps.accounts import actions, queries
from apps.accounts.models import User
from apps.stories.actions import set_learning
from apps.stories.queries import tastes

ACCOUNT = "account.json"
MAX_PREFERENCES = 200


def write(user: User) -> Iterator[bytes]:
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


def take(running: Import) -> None:
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
    if found.truth("learning", otherwise=True) is False:
        set_learning(running.user, is_on=False)
    running.restored[ACCOUNT] += len(preferences.values) - len(left_out)
