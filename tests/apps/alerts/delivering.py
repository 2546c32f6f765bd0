"""Users with notifications, and hits of their searches."""

import base64
from collections.abc import Sequence
from typing import Any

from django.db import transaction

from apps.accounts.models import User
from apps.alerts.actions.delivering import deliver
from apps.alerts.actions.matching import NewHit, apply_rules
from apps.alerts.actions.rules import set_rule
from apps.alerts.models import Hit, Message
from apps.alerts.queries.messages import due
from apps.postings.models import Posting
from apps.search.models import SavedSearch
from lab.worlds import receivers
from lab.worlds.receivers import ABrowser
from tests.builders import NOON, a_posting, a_source, a_user


def a_person(**values: Any) -> User:
    person = a_user(**values)
    if "email" not in values:
        person.email = f"{person.username}@reader.example"
        person.save()
    return person


def a_search(user: User | None = None, name: str = "Mine", **rule: Any) -> SavedSearch:
    """A search with a rule, if one is given."""
    user = user or a_person()
    saved = SavedSearch.objects.create(
        user=user, name=name, query="paris", secret=f"{user.pk} {name}"[:43], saved_at=NOON
    )
    if rule:
        set_rule(user, saved.pk, **rule)
    return saved


def find(*searches: SavedSearch, now=NOON, postings: int | Sequence[Posting] = 1) -> list[NewHit]:
    """New postings that all these searches find, and that their rules are applied to."""
    if isinstance(postings, int):
        source = a_source(listed=True, title="The Source")
        postings = [a_posting(source, published_at=now) for _ in range(postings)]
    hits = []
    for saved in searches:
        for posting in postings:
            times = {"published_at": posting.published_at, "retrieved_at": posting.retrieved_at, "found_at": now}
            hit = Hit.objects.create(saved=saved, posting=posting, source_id=posting.source_id, **times)
            hits.append(NewHit(hit.pk, saved.pk, saved.user_id, posting.pk))
    with transaction.atomic():
        apply_rules(hits, now=now)
    return hits


def send_all(*, now=NOON) -> None:
    for message_id in due(now):
        deliver(message_id, now=now)


def the_message(**values: Any) -> Message:
    return Message.objects.get(**values)


def a_browser(user: User, endpoint: str, **values: Any) -> ABrowser:
    return receivers.a_browser(user, endpoint, **{"now": NOON} | values)


def from_base64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
