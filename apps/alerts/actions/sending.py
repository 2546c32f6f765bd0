"""Destinations of a user, and sending articles to them. Each action is one transaction."""

from collections.abc import Mapping
from datetime import datetime
from uuid import uuid4

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.alerts import send_to
from apps.alerts.actions.delivering import send_tasks
from apps.alerts.models import Destination, Message
from apps.database.sanitizing import sanitize
from apps.following.actions.errors import NotPossible
from apps.postings.models import Posting

MAX_DESTINATIONS = 20  # per user
MAX_WAITING = 500  # articles of a user that wait to be sent
MAX_NAME_LENGTH = 100  # characters


@transaction.atomic
def add_destination(user: User, service: str, settings: Mapping[str, str], *, name: str, now: datetime) -> Destination:
    """Store a service with its settings, encrypted; raises NotPossible for unusable settings and above the limit."""
    User.objects.select_for_update().get(pk=user.pk)  # or two at once could exceed the limit
    known = send_to.all_services().get(service)
    if known is None:
        raise NotPossible(_("There is no service of this name."))
    if Destination.objects.filter(user=user).count() >= MAX_DESTINATIONS:
        raise NotPossible(_("You can have at most {most} services.").format(most=MAX_DESTINATIONS))
    settings = known.check(user, {key: sanitize(value).strip() for key, value in settings.items()})
    name = sanitize(name).strip()[:MAX_NAME_LENGTH] or str(known.label)
    secret = send_to.encrypted(settings)
    return Destination.objects.create(user=user, service=service, name=name, settings=secret, added_at=now)


@transaction.atomic
def remove_destination(user: User, destination_id: int) -> bool:
    """Remove a service with its settings and its delivery log; False if there is none."""
    mine = Destination.objects.filter(user=user, pk=destination_id)
    # Lock messages first, as senders do, or there could be a deadlock.
    list(Message.objects.filter(destination__in=mine).order_by("pk").select_for_update().values_list("pk"))
    return mine.delete()[0] > 0


@transaction.atomic
def send(user: User, posting: Posting, destination_id: int | None, *, now: datetime) -> Destination:
    """Enqueue an article that the user may read, for the user's first destination if none is named.

    An article that already waits there is not sent twice. Raises NotPossible.
    """
    User.objects.select_for_update().get(pk=user.pk)  # or two at once could enqueue the same
    mine = Destination.objects.filter(user=user).order_by("pk")
    destination = (mine if destination_id is None else mine.filter(pk=destination_id)).first()
    if destination is None:
        raise NotPossible(_("Set up a service first."))
    if not posting.url.startswith(("http://", "https://")):
        raise NotPossible(_("This article has no web address that could be sent."))
    waiting = Message.objects.filter(user=user, channel=send_to.NAME, state=Message.State.WAITING)
    if waiting.filter(destination=destination, posting=posting).exists():
        return destination
    if waiting.count() >= MAX_WAITING:
        raise NotPossible(_("{most} articles are waiting to be sent, the maximum.").format(most=MAX_WAITING))
    message = Message.objects.create(
        key=uuid4(),
        user=user,
        channel=send_to.NAME,
        destination=destination,
        posting=posting,
        hits=[],
        created_at=now,
        due_at=now,
    )
    transaction.on_commit(lambda: send_tasks([message.pk]), robust=True)
    return destination
