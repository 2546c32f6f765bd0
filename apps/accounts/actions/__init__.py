"""The only writers of preferences and app tokens; allauth writes the rest of an account."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from secrets import token_urlsafe

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.auth import SESSION_KEY
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _

from apps.accounts import queries
from apps.accounts.algorithms.secrets import HINT_LENGTH, digest_of, fever_key_of
from apps.accounts.models import AppToken, User

TOKEN_PREFIX = "wb_"  # lets secret scanners recognize tokens
SECRET_BYTES = 32
MAX_TOKEN_NAME_LENGTH = 100  # characters
MAX_TOKENS = 50  # per user
USE_NOTED_EVERY = timedelta(minutes=5)
PURGED_AT_ONCE = 5_000  # sessions that one statement deletes


def set_preferences(user: User, **values: object) -> None:
    """Change the given preferences; the others stay."""
    if unknown := values.keys() - set(queries.preference_names()):
        raise TypeError(f"unknown preferences: {', '.join(sorted(unknown))}")
    User.objects.filter(pk=user.pk).update(**values)


def set_list_view(user: User, list_name: str, view: User.View) -> None:
    """Remember the layout of one list."""
    User.objects.filter(pk=user.pk).update(list_views=user.list_views | {list_name: view.value})


def set_active(user_id: int, *, active: bool) -> bool:
    """Allow or forbid a user to sign in, which ends sessions at their next request. Returns whether it changed."""
    return bool(User.objects.filter(pk=user_id, is_active=not active).update(is_active=active))


class NotPossible(ValueError):
    """A request breaks a rule; the message names it to the user."""


def restore_preferences(user: User, values: Mapping[str, object]) -> list[str]:
    """Store preferences exported by another portal; returns the names of those that are unknown or invalid."""
    left_out = []
    kept: dict[str, object] = {}
    for name, value in values.items():
        try:
            if name not in queries.preference_names():
                raise ValidationError(name)
            kept[name] = User._meta.get_field(name).clean(value, user)  # type: ignore[union-attr]
        except (ValidationError, TypeError, ValueError):
            left_out.append(name)
    set_preferences(user, **kept)
    return left_out


# --- app tokens -------------------------------------------------------------------------------------------------------
@transaction.atomic
def make_token(
    user: User, name: str, scopes: Collection[str], *, now: datetime, for_fever: bool = False
) -> tuple[AppToken, str]:
    """Create an app token; returns it with its secret, which is not stored.

    Fever clients send an MD5 of name and secret, so only tokens created for Fever can be used with it. Raises
    NotPossible for a missing or long name, invalid scopes, or too many tokens.
    """
    name = " ".join(name.replace("\0", "").split())
    if not name:
        raise NotPossible(_("Give the token a name, so that you recognise it later."))
    if len(name) > MAX_TOKEN_NAME_LENGTH:
        raise NotPossible(_("A token's name can have at most %(count)d characters.") % {"count": MAX_TOKEN_NAME_LENGTH})
    allowed = [scope.value for scope in AppToken.Scope if scope in scopes]
    if not allowed or len(allowed) < len(set(scopes)):
        raise NotPossible(_("Choose what the app may do: read, change, or both."))
    User.objects.select_for_update().get(pk=user.pk)  # two concurrent requests could exceed the limit
    if queries.tokens_of(user).count() >= MAX_TOKENS:
        raise NotPossible(_("You have %(count)d tokens, the maximum. Revoke one first.") % {"count": MAX_TOKENS})
    secret = TOKEN_PREFIX + token_urlsafe(SECRET_BYTES)
    token = AppToken.objects.create(
        user=user,
        name=name,
        scopes=allowed,
        digest=digest_of(secret),
        fever_key=digest_of(fever_key_of(user.get_username(), secret)) if for_fever else None,
        hint=secret[:HINT_LENGTH],
        made_at=now,
    )
    return token, secret


def revoke_token(user: User, token_id: int) -> bool:
    return queries.tokens_of(user).filter(pk=token_id).delete()[0] > 0


def use_token(secret: str, scope: str = AppToken.Scope.READ, *, now: datetime) -> User | None:
    """The user of a token with that scope, or None. The time of use is stored every few minutes."""
    return _use(queries.token_of(secret), scope, now)


def use_fever_key(key: str, scope: str = AppToken.Scope.READ, *, now: datetime) -> User | None:
    """The same for a Fever key."""
    return _use(queries.token_of_fever_key(key), scope, now)


def _use(token: AppToken | None, scope: str, now: datetime) -> User | None:
    if token is None or scope not in token.scopes:
        return None
    if token.last_used_at is None or token.last_used_at < now - USE_NOTED_EVERY:
        AppToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token.user


# --- sessions ---------------------------------------------------------------------------------------------------------
def end_session(user: User, session_id: int) -> bool:
    """Sign the user out in one browser."""
    session = queries.sessions_of(user).filter(pk=session_id).first()
    if session is None:
        return False
    session.end()
    return True


def purge_sessions(*, now: datetime) -> None:
    """Delete expired sessions, and list entries without a session."""
    while batch := list(Session.objects.filter(expire_date__lt=now).values_list("pk", flat=True)[:PURGED_AT_ONCE]):
        # The condition is repeated, because a session may have been extended since.
        Session.objects.filter(pk__in=batch, expire_date__lt=now).delete()
    present = Session.objects.filter(session_key=OuterRef("session_key"))
    # A new entry may precede its session.
    listed = UserSession.objects.filter(~Exists(present), created_at__lt=now - timedelta(days=1))
    while batch := list(listed.values_list("pk", flat=True)[:PURGED_AT_ONCE]):
        UserSession.objects.filter(pk__in=batch).delete()


# --- the end of an account --------------------------------------------------------------------------------------------
@transaction.atomic
def delete_account(user: User) -> None:
    """Delete a user with all data. Raises NotPossible for the last administrator."""
    # Locked, so that concurrent writers wait, and then find no user to write for.
    admins = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").select_for_update()
    if list(admins.values_list("pk", flat=True)) == [user.pk]:
        raise NotPossible(_("You are the only administrator. Make someone else an administrator first."))
    if not User.objects.select_for_update().filter(pk=user.pk).exists():
        return
    keys = list(queries.sessions_of(user).values_list("session_key", flat=True))
    Session.objects.filter(session_key__in=[*keys, *_unlisted_sessions(user)]).delete()
    people = ContentType.objects.get_for_model(User)
    LogEntry.objects.filter(content_type=people, object_id=str(user.pk)).delete()
    User.objects.filter(pk=user.pk).delete()


def _unlisted_sessions(user: User) -> list[str]:
    """Sessions of the user that allauth has not listed."""
    listed = UserSession.objects.values("session_key")
    others = Session.objects.exclude(session_key__in=listed).only("session_key", "session_data")
    return [each.session_key for each in others.iterator() if each.get_decoded().get(SESSION_KEY) == str(user.pk)]
