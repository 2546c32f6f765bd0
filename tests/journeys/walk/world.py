"""A person of whom there is one of everything, with a marker in each text and a list of every secret."""

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.utils import timezone
from django.utils.http import int_to_base36

from apps.accounts import actions as accounts
from apps.accounts import queries as accounts_queries
from apps.accounts.models import User
from apps.alerts.actions.plain_rules import save_plain_rule
from apps.alerts.actions.sending import add_destination
from apps.alerts.algorithms.plain_rules import PlainRule
from apps.alerts.channels.push import public_push_key
from apps.alerts.models import Browser, Rule
from apps.feed_health.models import Notice
from apps.following import actions as following
from apps.following.models import FollowedList, Reading
from apps.jobs.models import DeadLetter, Job
from apps.newsletters.models import HeldLetter, Newsletter
from apps.published_feeds.actions.addresses import make_address
from apps.retrieval.models import Crawl, Page
from apps.search.actions.reindexing import consume
from apps.sources.models import Source
from apps.stories.models import Section
from apps.websub.models import Subscription
from tests.apps.account_data.worlds import add_what_is_not_exported
from tests.apps.api.programs import UserData, a_person_with_everything
from tests.builders import NOON, a_posting, a_source

MARKER = "Quixotl"
ANYTHING = re.compile(MARKER, re.IGNORECASE)
# Names that only the person may see; staff see feeds, their articles, people and jobs.
PERSONAL = re.compile(
    rf"{MARKER}[ +](?:folder|inner|tag|search|calls|wrote|could not|is not there|app|browser|private"
    rf"|reads this|alone may)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class World:
    owner: UserData
    values: Mapping[str, Any]  # what stands in URLs and forms, by the names of parameters
    secrets: tuple[str, ...]


def a_foreign_world() -> World:
    owner, now = a_person_with_everything(MARKER), timezone.now()
    person = owner.person
    add_what_is_not_exported(person, owner.former_posting)
    token, secret = accounts.make_token(person, f"{MARKER} app", ["read", "write"], now=now, for_fever=True)
    invitation_secret = accounts_queries.invitation_by(person)
    share = following.marks.share(person, owner.posting.pk, now=now)
    address = make_address(person, "folder", owner.folder_id, now=now)
    Reading.objects.create(user=person, posting=owner.posting, read_at=now)
    notice = Notice.objects.create(user=person, source=owner.source, kind="broken", at=NOON, created_at=now)
    browser, passkey = Browser.objects.get(user=person), _with_secrets(person)
    social, session = SocialAccount.objects.get(user=person), UserSession.objects.get(user=person)
    public_push_key()  # made once, at the first visit
    site = a_source(url="https://site.example/", title="Site", kind="site", listed=True)
    Crawl.objects.create(source=owner.source, pages_per_day=500)
    destination = add_destination(person, "readwise", {"token": "token-of-the-owner"}, name=MARKER, now=now)
    followed_list = FollowedList.objects.create(user=person, url="https://lists.example/of-the-owner.opml", due_at=now)
    page = Page.objects.create(
        source=owner.source, url="https://site.example/1", key=bytes(16), found_at=now, kind="news"
    )
    section = Section.objects.create(
        slug="hidden", title=f"{MARKER} section", query="harbour", place=1, is_on=False, changed_at=now
    )
    hub = _a_subscription(owner.source, now)
    job = Job.objects.create(kind="index", requested_by="Ann", state="running")
    stuck = DeadLetter.objects.create(id="stuck-1", task="x", content="{}", first_at=now, last_at=now, abandoned_at=now)
    rule = _with_a_webhook(owner.search.rule)
    plain = save_plain_rule(person, PlainRule("", "text", (f"{MARKER} wrote",)), star=True, now=now)
    held = _a_held_letter(person, now)
    a_posting(a_source(title="Wire", listed=True), title="For all", text="All may read this alone.", language="en")
    consume()
    known = [
        secret, invitation_secret, share.secret, address.secret, owner.search.secret, rule.stop_token,
        rule.webhook_secret, session.session_key, hub.token, hub.secret, browser.endpoint, followed_list.url,
        "browser-secret-of-the-owner", "totp-secret-of-the-owner", "token-of-the-owner", settings.SECRET_KEY,
        rule.webhook_secret, session.session_key, hub.token, hub.secret, browser.endpoint,
        held.newsletter.token, plain.secret,
        "browser-secret-of-the-owner", "totp-secret-of-the-owner", settings.SECRET_KEY,
    ]  # fmt: skip
    values = {
        "address_id": address.pk, "browser_id": browser.pk, "category_id": owner.folder_id + 1,
        "content_type_id": ContentType.objects.get_for_model(type(share)).pk, "enclosure_id": owner.posting.pk * 1_000,
        "entry_id": owner.posting.pk, "feed_id": owner.source.pk, "feed_secret": guessed(address.secret),
        "folder_id": owner.folder_id, "form": "rss", "icon_id": owner.source.pk,
        "invitation_secret": guessed(invitation_secret), "job_id": job.pk, "key": "key-of-an-old-mail",
        "key_id": token.pk, "list_id": followed_list.pk, "message_id": owner.message_id, "notice_id": notice.pk,
        "object_id": share.pk, "other_folder_id": owner.other_folder_id, "page_id": page.pk, "pk": passkey.pk,
        "posting_id": owner.posting.pk, "provider_id": "unknown", "rest": "nothing/here", "saved_id": owner.search.pk,
        "secret": guessed(owner.search.secret), "section_id": section.pk, "session_id": session.pk,
        "share_secret": guessed(share.secret), "signature": "forged", "encoded": "aHR0cHM6Ly9hLmV4YW1wbGUv",
        "highlight_id": owner.highlight_id, "rule_id": plain.pk, "newsletter_id": held.newsletter_id,
        "held_id": held.pk, "slug": section.slug, "source_id": owner.source.pk, "story_id": owner.story_id,
        "stream": f"feed/{owner.source.pk}", "email": person.email,
        "destination_id": destination.pk,
        "now": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "other_source_id": site.pk, "social_id": social.pk,
        "stuck_id": stuck.pk, "tag_id": owner.tag_id, "digest": "0" * 32,
        "token": guessed(rule.stop_token), "token_id": token.pk, "uidb36": int_to_base36(person.pk),
        "undo_id": owner.undo_id, "user_id": person.pk, "what": "pause", "who": person.pk,
    }  # fmt: skip
    return World(owner, values, tuple(known))


def _with_secrets(person: User) -> Authenticator:
    Browser.objects.filter(user=person).update(name=f"{MARKER} browser", secret="browser-secret-of-the-owner")
    Authenticator.objects.filter(type="totp").update(data={"secret": "totp-secret-of-the-owner"})
    return Authenticator.objects.create(
        user=person, type=Authenticator.Type.WEBAUTHN, data={"name": f"{MARKER} private passkey"}
    )


def _a_held_letter(person: User, now: datetime) -> HeldLetter:
    source = a_source(kind="newsletter", title="Letters")
    newsletter = Newsletter.objects.create(source=source, user=person, token="address-of-the-owner", made_at=now)
    content = b"From: a@b.example\n\nx"
    return HeldLetter.objects.create(newsletter=newsletter, title=f"{MARKER} wrote", content=content, received_at=now)


def _a_subscription(source: Source, now: datetime) -> Subscription:
    return Subscription.objects.create(
        source=source, kind="websub", hub="https://hub.example/", topic=source.url, due_at=now,
        token="push-token-of-the-source-0123456", secret="push-secret-of-the-source",
        callback="https://portal.example/push/x/", requested_at=now, verified_at=now, lease_seconds=9, state="active",
        expires_at=now + timedelta(days=9),
    )  # fmt: skip


def _with_a_webhook(rule: Rule) -> Rule:
    rule.webhook_url = f"https://{MARKER}.example/hook"
    rule.webhook_secret = b64encode(b"webhook-secret-of-the-owner").decode()
    rule.save()
    return rule


def guessed(secret: str) -> str:
    """A secret with another last character."""
    return secret[:-1] + ("a" if secret[-1] != "a" else "b")
