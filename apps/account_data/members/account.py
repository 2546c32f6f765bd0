"""The account itself, and its preferences."""

from collections.abc import Iterator

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
