"""Pages of an account."""

from collections import Counter
from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings

from apps.accounts import queries
from apps.accounts.algorithms.browsers import browser_named
from apps.accounts.models import User


def account_page(user: User) -> dict[str, object]:
    primary = next(iter(queries.email_addresses(user)), None)
    kinds = Counter(queries.authenticator_kinds(user))
    providers = queries.provider_names()
    return {
        "email": primary.email if primary else user.email,
        "is_verified": bool(primary and primary.verified),
        "has_password": user.has_usable_password(),
        "has_app": bool(kinds[Authenticator.Type.TOTP]),
        "passkeys": kinds[Authenticator.Type.WEBAUTHN],
        "sessions": queries.sessions_of(user).count(),
        "tokens": queries.tokens_of(user).count(),
        "providers": providers,
        "connected": queries.foreign_account_count(user) if providers else 0,
        "can_invite": user.is_staff and settings.SIGN_UP == "invited",
    }


def session_rows(user: User, current_key: str) -> list[dict[str, Any]]:
    """The current session first, then the newest."""
    rows = [
        dict(zip(("browser", "system"), browser_named(each.user_agent), strict=True))
        | {"id": each.pk, "ip": each.ip, "began_at": each.created_at, "is_current": each.session_key == current_key}
        for each in queries.sessions_of(user)
    ]
    return sorted(rows, key=lambda row: not row["is_current"])
