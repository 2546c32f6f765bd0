"""What concerns everything that is a person's at once: taking it over from an archive, and its end."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import IO

from django.db import transaction

from apps.account_data.formats.container import Container
from apps.account_data.formats.problems import BadArchive
from apps.account_data.formats.records import Record, record
from apps.account_data.members import MEMBERS, AboutPostings, Taking
from apps.account_data.members.base import FIRST_LOOK, told_in
from apps.account_data.models import Waiting
from apps.account_data.queries import FORMAT, HEAD, VERSION
from apps.accounts import actions as accounts
from apps.accounts.models import User
from apps.alerts.models import Message
from apps.following import queries as following
from apps.following.actions import NotPossible
from apps.jobs import actions as jobs
from apps.postings.queries.recognition import ForeignPosting, recognize
from apps.retrieval import actions as retrieval

SETTLED_AT_ONCE = 2_000  # lines, in one transaction
GIVEN_UP_AFTER = timedelta(days=30)
ABOUT_POSTINGS = {member.name: member.take for member in MEMBERS if isinstance(member.take, AboutPostings)}


@dataclass(frozen=True, slots=True)
class Report:
    """What was taken over from an archive."""

    restored: Counter[str]  # how much is here now that was not, by the name of the member
    waiting: int  # lines about postings that are not here yet
    left_out: int  # lines about sources that are not here, and what is too much to wait
    remarks: tuple[str, ...]


@transaction.atomic
def take_over(user: User, file: IO[bytes], *, now: datetime) -> Report:
    """Take over what an archive holds: all of it or, if anything is wrong with it, nothing.

    What the person has here stays, and of two marks on a posting the later one counts, so it may be done twice. Raises
    BadArchive if it is no archive of a portal, or something in it cannot be; the message says where.
    """
    container = Container(file)
    head = record(container, HEAD)
    if head is None or head.values.get("format") != FORMAT:
        raise BadArchive("It was not exported by Wirebeat.")
    if head.values.get("version") != VERSION:
        raise BadArchive("It was exported by a newer version of Wirebeat, which this one cannot read.", HEAD)
    taking = Taking(user, now, container)
    for member in MEMBERS:
        try:
            member.taken(taking)
        except NotPossible as problem:
            raise BadArchive(str(problem), member.name) from problem
    return Report(taking.restored, taking.waiting, taking.left_out, tuple(taking.remarks))


@transaction.atomic
def settle(*, now: datetime) -> int:
    """Look for the postings that lines wait for, and do with them what the lines say; how many lines were looked at.

    A line is looked at again after as long as it has waited, so that a source may be slow and yet nothing is busy.
    """
    due = Waiting.objects.filter(due_at__lte=now).order_by("due_at", "pk")
    lines = list(due.select_for_update(skip_locked=True, of=("self",)).select_related("user")[:SETTLED_AT_ONCE])
    found = recognize([ForeignPosting(line.source_id, *told_in(Record(line.record, line.member))[1]) for line in lines])
    by_person: dict[tuple[int, str], list[tuple[Waiting, int]]] = defaultdict(list)
    for line, posting_id in zip(lines, found, strict=True):
        if posting_id is not None:
            by_person[line.user_id, line.member].append((line, posting_id))
        line.due_at = now + max(now - line.noted_at, FIRST_LOOK)
    done = {line.pk for key, some in by_person.items() if _done(key[1], some, now) for line, _ in some}
    done |= {line.pk for line in lines if now - line.noted_at > GIVEN_UP_AFTER}
    Waiting.objects.filter(pk__in=done).delete()
    Waiting.objects.bulk_update([line for line in lines if line.pk not in done], ["due_at"], batch_size=1_000)
    return len(lines)


def _done(member: str, some: list[tuple[Waiting, int]], now: datetime) -> bool:
    """Do what lines of one person say; False where a rule of today forbids it, which may be another one tomorrow."""
    about = ABOUT_POSTINGS.get(member)
    if about is None:
        return False
    try:
        with transaction.atomic():
            read = [(posting_id, about.read(Record(line.record, member), now)) for line, posting_id in some]
            about.write(some[0][0].user, read)
    except (BadArchive, NotPossible):
        return False
    return True


@transaction.atomic
def delete_account(user: User, *, now: datetime) -> None:
    """Delete a person and everything that is theirs. What they followed is asked no more if nobody else follows it.

    Raises accounts.NotPossible if nobody would be left to look after the portal.
    """
    source_ids = list(following.follows_of(user).values_list("source_id", flat=True))
    # Messages first and in their order, as those do who send them, or each could wait for the other.
    list(Message.objects.filter(user=user).order_by("pk").select_for_update().values_list("pk"))
    jobs.forget_asker(user.username)
    accounts.delete_account(user)
    retrieval.adopt_sources(source_ids, now=now)
