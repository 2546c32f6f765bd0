"""Users with every kind of data, so that tests miss none."""

from datetime import time, timedelta
from uuid import uuid4

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.backends.db import SessionStore

from apps.account_data.models import Waiting
from apps.accounts import actions as accounts
from apps.accounts.models import User
from apps.alerts.actions import rules
from apps.alerts.actions.plain_rules import save_plain_rule
from apps.alerts.algorithms.plain_rules import PlainRule
from apps.alerts.models import Attempt, Browser, Hit, Message, QueryTerm
from apps.following import actions as following
from apps.following.algorithms.passages import Passage
from apps.following.models import Playback, Reading
from apps.jobs.models import Job
from apps.postings.actions import Document, store
from apps.postings.models import Posting
from apps.search.actions.saved import save_search
from apps.search.models import SavedSearch
from apps.sources.formats.feed import ParsedEntry
from apps.sources.models import Source
from apps.stories import actions as stories
from tests.builders import NOON, a_folder, a_follow, a_source, a_user

HOUR = timedelta(hours=1)


def published(source: Source, how_many: int = 4) -> list[Posting]:
    """Postings with the identifiers of a real feed."""
    entries = [
        ParsedEntry(
            guid=f"guid {number} of {source.url}" if number % 2 else "",
            link=f"{source.url.removesuffix('/feed')}/{number}",
            title=f"Title {number} – “ä” \N{SMILING FACE WITH SUNGLASSES}",
            content=f"<p>Words {number} &amp; more</p>",
            published=NOON - number * HOUR,
        )
        for number in range(how_many)
    ]
    store([Document(source.pk, entries, source.url, "", "en", NOON)])
    return list(Posting.objects.filter(source=source).order_by("-published_at"))


def a_busy_person(username: str = "ada") -> User:
    """A user with follows in nested folders, marks, tags, notes, playback, reactions, a saved search and settings."""
    user = a_user(username, email=f"{username}@mail.example", unread_only=True, order="oldest", time_zone="Asia/Tokyo")
    outer = a_folder(user, "World & “more”")
    inner = a_folder(user, "Asia", outer)
    a_folder(user, "Empty", outer)
    first, second = a_source(title="First"), a_source(title="Second")
    a_follow(user, first, folders=(outer, inner), title="My own name", unread_from=NOON - 100 * HOUR)
    a_follow(user, second, unread_from=NOON - 2 * HOUR)
    read, starred, tagged, hidden = published(first)
    published(second)
    following.marks.mark_read(user, [read.pk, starred.pk], read=True, now=NOON)
    following.marks.star(user, starred.pk, starred=True, now=NOON)
    following.marks.tag(user, [tagged.pk, starred.pk], "for later", NOON)
    following.marks.write_note(user, tagged.pk, "Two lines\nof “mine”", now=NOON)
    for quote in ("Words", "& more"):
        following.highlights.highlight(user, read, Passage(quote), note=f"Note on “{quote}”", now=NOON)
    Reading.objects.create(user=user, posting=read, read_at=NOON)
    Playback.objects.create(
        user=user, posting=starred, address="https://a.example/1.mp3", seconds=61.5, changed_at=NOON
    )
    stories.learning.note_opened(user, starred.pk, now=NOON)
    stories.learning.hide(user, hidden.pk, hidden=True, now=NOON)
    saved = save_search(user, "Quakes", "earthquake -film", order=SavedSearch.Order.NEWEST, now=NOON)
    rules.set_rule(user, saved.pk, star=True, tag="quakes", mail="day", webhook_url="https://hooks.example/x")
    rules.set_importance(user, saved.pk, 3.0)
    for rule in (
        PlainRule("", "author", ("Ada", "Grace Hopper")),
        PlainRule(f"folder:{inner.pk}", "text", ("storm",)),
        PlainRule(f"source:{first.pk}", "title", ("rain",), keep=True),
    ):
        save_plain_rule(user, rule, highlight=True, tag="wet", now=NOON)
    rules.set_notification_settings(user, quiet_from=time(22), quiet_until=time(7), digest_hour=8, most_a_day=5)
    return user


def add_what_is_not_exported(user: User, posting: Posting) -> None:
    """Data outside of the archive: messages, browsers, keys, sessions, and names in rows of others."""
    [saved] = SavedSearch.objects.filter(user=user, plain__isnull=True)
    QueryTerm.objects.create(saved=saved, user_id=user.pk, term="quake", languages=1)
    times = {"published_at": NOON, "retrieved_at": NOON, "found_at": NOON}
    hit = Hit.objects.create(saved=saved, posting=posting, source_id=posting.source_id, **times)
    browser = Browser.objects.create(
        user=user, endpoint=f"https://push.example/{user.pk}", public_key="x", secret="y", added_at=NOON
    )
    values = {"saved": saved, "browser": browser, "hits": [hit.pk], "created_at": NOON, "due_at": NOON}
    message = Message.objects.create(key=uuid4(), user=user, channel="push", **values)
    Attempt.objects.create(message=message, at=NOON, took=1.0)
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
    Authenticator.objects.create(user=user, type=Authenticator.Type.TOTP, data={"secret": "x"})
    account = SocialAccount.objects.create(user=user, provider="openid_connect", uid=f"uid of {user.pk}")
    SocialToken.objects.create(account=account, token="t")
    accounts.make_token(user, "Phone", ["read"], now=NOON)
    for is_listed in (True, False):
        session = SessionStore()
        session.update({"_auth_user_id": str(user.pk), "note": "x" * 10})
        session.create()
        if is_listed:
            UserSession.objects.create(user=user, session_key=session.session_key, ip="127.0.0.1")
    people = ContentType.objects.get_for_model(User)
    LogEntry.objects.create(user=user, content_type=people, object_id="0", object_repr="x", action_flag=CHANGE)
    admin = a_user(is_superuser=True, is_staff=True)
    LogEntry.objects.create(
        user=admin, content_type=people, object_id=str(user.pk), object_repr=user.username, action_flag=CHANGE
    )
    Job.objects.create(kind=f"kind {user.pk}", requested_by=user.username)
    line = {"member": "marks.jsonl", "record": {"source": "x"}, "noted_at": NOON, "due_at": NOON}
    Waiting.objects.create(user=user, source=posting.source, key=str(user.pk), **line)
    user.groups.add(Group.objects.create(name=f"group of {user.pk}"))
    user.user_permissions.add(Permission.objects.order_by("pk")[0])
