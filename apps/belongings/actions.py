"""What concerns everything that is a person's at once: taking it over from an archive, and its end."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import IO

from django.db import transaction

from apps.accounts import actions as accounts
from apps.accounts.models import User
from apps.alerts.models import Message
from apps.belongings.formats.container import Container
from apps.belongings.formats.problems import BadArchive
from apps.belongings.formats.records import record
from apps.belongings.members import MEMBERS, Taking
from apps.belongings.queries import FORMAT, HEAD, VERSION
from apps.following import queries as following
from apps.following.actions import NotPossible
from apps.jobs.models import Job
from apps.retrieval import actions as retrieval


@dataclass(frozen=True, slots=True)
class Report:
    """What was taken over from an archive."""

    restored: Counter[str]  # how much is here now that was not, by the name of the member
    elsewhere: int  # lines about postings that are not here (yet)
    remarks: tuple[str, ...]


@transaction.atomic
def take_over(user: User, file: IO[bytes], *, now: datetime) -> Report:
    """Take over what an archive holds: all of it or, if anything is wrong with it, nothing.

    What the person has here stays, and of two marks on a posting the later one counts, so it may be done twice.

    Raises
    ------
    BadArchive
        If it is no archive of a portal, or something in it cannot be; the message says where.
    """
    container = Container(file)
    head = record(container, HEAD)
    if head is None or head.values.get("format") != FORMAT:
        raise BadArchive("It was not written by a portal like this one.")
    if head.values.get("version") != VERSION:
        raise BadArchive("It was written by a newer portal than this one, which cannot read it.", HEAD)
    taking = Taking(user, now, container)
    for member in MEMBERS:
        if member.take is not None:
            try:
                member.take(taking)
            except NotPossible as problem:
                raise BadArchive(str(problem), member.name) from problem
    return Report(taking.restored, taking.elsewhere.total(), tuple(taking.remarks))


@transaction.atomic
def delete_account(user: User, *, now: datetime) -> None:
    """Delete a person and everything that is theirs. What they followed is asked no more if nobody else follows it.

    Raises
    ------
    accounts.NotPossible
        If nobody would be left to look after the portal.
    """
    source_ids = list(following.follows_of(user).values_list("source_id", flat=True))
    # Messages first and in their order, as those do who send them, or each could wait for the other.
    list(Message.objects.filter(user=user).order_by("pk").select_for_update().values_list("pk"))
    Job.objects.filter(asked_by=user.username).update(asked_by="")
    accounts.delete_account(user)
    retrieval.adopt_sources(source_ids, now=now)
