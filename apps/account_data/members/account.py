"""Who a person is here, and how they like the portal."""

from collections.abc import Iterator
from typing import Any

from apps.account_data.formats.records import document_of, record
from apps.account_data.members.base import Taking
from apps.accounts import actions, queries
from apps.accounts.models import User
from apps.stories.actions import set_learning
from apps.stories.queries import tastes

ACCOUNT = "account.json"
MAX_PREFERENCES = 200


def write(user: User) -> Iterator[bytes]:
    yield document_of(
        {
            "username": user.username,
            "first_name": user.first_name,
            "last_name": user.last_name,
            "email": user.email,
            "addresses": [
                {"email": each.email, "verified": each.verified, "primary": each.primary}
                for each in queries.email_addresses(user)
            ],
            "joined": user.date_joined,
            "last_login": user.last_login,
            "two_factor": queries.authenticator_kinds(user),
            "sessions": [
                {"ip": each.ip, "browser": each.user_agent, "began": each.created_at}
                for each in queries.sessions_of(user)
            ],
            "app_tokens": [
                {"name": each.name, "scopes": each.scopes, "made": each.made_at, "last_used": each.last_used_at}
                for each in queries.tokens_of(user)
            ],
            "preferences": queries.preferences_of(user),
            "learning": tastes.is_learning(user),
        }
    )


def take(taking: Taking) -> None:
    """How the person likes the portal; who they are stays as it is here."""
    found = record(taking.container, ACCOUNT)
    preferences = found.inner("preferences") if found else None
    if found is None or preferences is None:
        return
    if len(preferences.values) > MAX_PREFERENCES:
        raise found.bad(f"It has more than {MAX_PREFERENCES} preferences.")
    values: dict[str, Any] = dict(preferences.values)
    left_out = actions.restore_preferences(taking.user, values)
    if left_out:
        taking.remarks.append(f"Unknown preferences were skipped: {', '.join(left_out)[:300]}.")
    if found.truth("learning", otherwise=True) is False:
        set_learning(taking.user, is_on=False)
    taking.restored[ACCOUNT] += len(values) - len(left_out)
