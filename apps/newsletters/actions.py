"""The only writers of newsletters. Each is one idempotent transaction."""

import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.accounts.queries.site import own_address
from apps.database.sanitizing import sanitize
from apps.following.actions.errors import NotPossible
from apps.following.actions.follows import follow
from apps.newsletters.formats.letters import Letter, read
from apps.newsletters.models import HeldLetter, Newsletter
from apps.postings.actions import Document, store
from apps.postings.models import Posting
from apps.sources.actions.editing import add_source
from apps.sources.algorithms.addresses import host, registrable_domain
from apps.sources.models import Source

MAX_NEWSLETTERS = 200  # per user
MAX_A_DAY = 100  # mails to one address
MAX_HELD = 20  # mails per address
HELD_FOR = timedelta(days=30)
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


class UnknownAddress(ValueError):
    """No newsletter has this address, or no longer."""


class TooMany(ValueError):
    """The address has received too much today, or too much waits: the mail server is to retry later."""


@transaction.atomic
def add_newsletter(user: User, name: str, site: str, *, now: datetime) -> Newsletter:
    """Create an address that shows mails from the domain of the site at once, or raise `NotPossible`."""
    if not settings.NEWSLETTER_DOMAIN:
        raise NotPossible(_("This portal receives no mail: its administrator has to set up a mail server first."))
    User.objects.select_for_update().get(pk=user.pk)  # two at once could exceed the limit
    if Newsletter.objects.filter(user=user).count() >= MAX_NEWSLETTERS:
        raise NotPossible(_("You can have at most {most} newsletters.").format(most=MAX_NEWSLETTERS))
    site = sanitize(site).strip()
    named = host(site if "://" in site else f"https://{site.rpartition('@')[2]}")
    token = "".join(secrets.choice(_LETTERS) for _ in range(20))
    # The source's address must not reveal the mail address, since followers and programs see it.
    url = own_address(f"{reverse('newsletters')}?feed={secrets.token_urlsafe(12)}")
    title = " ".join(sanitize(name).split()) or named or _("Newsletter")
    source_id = add_source(
        Source(url=url, kind="newsletter", title=title, site_url=f"https://{named}/" if named else "")
    )
    follow(user, [source_id], now=now)  # no checks are planned
    domains = [registrable_domain(named)] if named else []
    return Newsletter.objects.create(source_id=source_id, user=user, token=token, domains=domains, made_at=now)


@transaction.atomic
def remove_newsletter(user: User, source_id: int) -> bool:
    """Delete an address with its mails; False if there is none."""
    mine = Newsletter.objects.filter(user=user, pk=source_id)
    return Source.objects.filter(pk__in=mine).delete()[0] > 0


def forget_newsletters(user: User) -> None:
    """Delete all addresses of a person with their mails."""
    Source.objects.filter(newsletter__user=user).delete()


@transaction.atomic
def receive(recipient: str, content: bytes, *, now: datetime) -> bool:
    """Store a mail once; False if it waits until the user confirms its sender.

    Raises UnknownAddress, NotALetter or TooMany.
    """
    token, _, domain = sanitize(recipient).strip().strip("<>").lower().rpartition("@")
    mine = Newsletter.objects.filter(token=token, user__is_active=True, source__follows__isnull=False)
    newsletter = mine.select_for_update(of=("self",)).first() if domain == settings.NEWSLETTER_DOMAIN else None
    if newsletter is None:
        raise UnknownAddress(f"No newsletter has the address {recipient}."[:300])
    letter = read(content)
    today = now - timedelta(days=1)
    received = Posting.objects.filter(source_id=newsletter.pk, retrieved_at__gt=today).count()
    held = HeldLetter.objects.filter(newsletter=newsletter)
    if received + held.filter(received_at__gt=today).count() >= MAX_A_DAY:
        raise TooMany("This address has received too many mails today.")
    if registrable_domain(letter.host) in newsletter.domains:
        _store(newsletter, letter, now)
        return True
    held.filter(received_at__lt=now - HELD_FOR).delete()
    values = {"sender": letter.sender[:320], "title": letter.entry.title, "content": content, "received_at": now}
    if held.count() >= MAX_HELD and not held.filter(identity=letter.entry.guid).exists():
        raise TooMany(f"{MAX_HELD} mails wait at this address for their senders to be confirmed.")
    held.get_or_create(newsletter=newsletter, identity=letter.entry.guid, defaults=values)
    return False


def _store(newsletter: Newsletter, letter: Letter, now: datetime) -> None:
    """The caller holds the lock of the newsletter, which is the only writer of its source."""
    store([Document(newsletter.pk, [letter.entry], "", "", "", now)])
    Newsletter.objects.filter(pk=newsletter.pk).update(unsubscribe=letter.unsubscribe[:1_000])


@transaction.atomic
def confirm_sender(user: User, held_id: int, *, now: datetime) -> bool:
    """Show this and later mails of a sender's domain; False if there is no such mail."""
    found = HeldLetter.objects.filter(newsletter__user=user, pk=held_id).first()
    if found is None:
        return False
    newsletter = Newsletter.objects.select_for_update().get(pk=found.newsletter_id)
    domain = registrable_domain(read(bytes(found.content)).host)
    newsletter.domains = sorted({*newsletter.domains, domain})
    newsletter.save(update_fields=["domains"])
    for held in HeldLetter.objects.filter(newsletter=newsletter).order_by("pk").iterator(chunk_size=1):
        letter = read(bytes(held.content))
        if registrable_domain(letter.host) == domain:
            _store(newsletter, letter, now)
            held.delete()
    return True


def refuse_letter(user: User, held_id: int) -> bool:
    return HeldLetter.objects.filter(newsletter__user=user, pk=held_id).delete()[0] > 0
