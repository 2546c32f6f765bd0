"""Imports an account from an archive, and deletes accounts."""

from collections import Counter, defaultdict
from datetime import datetime, timedelta
from typing import IO, NamedTuple

from django.db import transaction

from apps.account_data.formats.container import Container, SingleFile
from apps.account_data.formats.problems import BadArchive
from apps.account_data.formats.records import Record, record
from apps.account_data.members import MEMBERS, AboutPostings, Import, readers
from apps.account_data.members.base import FIRST_CHECK_AFTER, identifiers_in
from apps.account_data.models import Waiting
from apps.account_data.queries import FORMAT, HEAD, VERSION
from apps.accounts import actions as accounts
from apps.accounts.models import User
from apps.alerts.models import Message
from apps.following import queries as following
from apps.following.actions.errors import NotPossible
from apps.jobs import actions as jobs
from apps.newsletters import actions as newsletters
from apps.postings.queries.recognition import ForeignPosting, recognize
from apps.retrieval import actions as retrieval

SETTLED_AT_ONCE = 2_000  # lines, in one transaction
ABANDONED_AFTER = timedelta(days=30)
ABOUT_POSTINGS = {member.name: member.take for member in MEMBERS if isinstance(member.take, AboutPostings)}


class Report(NamedTuple):
    """The result of an import."""

    restored: Counter[str]  # new rows, by the name of the member
    waiting: int  # lines about postings that have not been retrieved yet
    left_out: int  # lines about unknown sources, and lines above the limit
    remarks: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...] = ()  # place and reason, in exports of other readers


@transaction.atomic
def import_file(user: User, file: IO[bytes], name: str, *, now: datetime) -> Report:
    """Import an archive or an export of another reader, completely or not at all. Importing it again changes nothing.

    Existing data stays, and of two marks on a posting the later one counts. Raises BadArchive, with the place of the
    error, if the file is neither or contains an invalid value.
    """
    file.seek(0)
    is_zip = file.read(2) == b"PK"
    file.seek(0)
    running = Import(user, now, Container(file) if is_zip else SingleFile(name, file))
    if is_zip and HEAD in running.container:
        _take_archive(running)
    else:
        try:
            readers.take_export(running)
        except NotPossible as problem:
            raise BadArchive(str(problem), name) from problem
    skipped = tuple(running.skipped[: readers.MAX_SKIPPED])
    return Report(running.restored, running.waiting, running.left_out, tuple(running.remarks), skipped)


def _take_archive(running: Import) -> None:
    head = record(running.container, HEAD)
    if head is None or head.values.get("format") != FORMAT:
        raise BadArchive("It was not exported by Wirebeat.")
    if head.values.get("version") != VERSION:
        raise BadArchive("It was exported by a newer version of Wirebeat, which this one cannot read.", HEAD)
    for member in MEMBERS:
        try:
            member.taken(running)
        except NotPossible as problem:
            raise BadArchive(str(problem), member.name) from problem


@transaction.atomic
def settle(*, now: datetime) -> int:
    """Apply waiting lines whose postings have been retrieved; returns the number of lines checked.

    The interval between checks doubles, so a slow source costs little.
    """
    due = Waiting.objects.filter(due_at__lte=now).order_by("due_at", "pk")
    lines = list(due.select_for_update(skip_locked=True, of=("self",)).select_related("user")[:SETTLED_AT_ONCE])
    wanted = [identifiers_in(Record(line.record, line.member))[1] for line in lines]
    found = recognize([ForeignPosting(line.source_id, *ids) for line, ids in zip(lines, wanted, strict=True)])
    by_person: dict[tuple[int, str], list[tuple[Waiting, int]]] = defaultdict(list)
    for line, posting_id in zip(lines, found, strict=True):
        if posting_id is not None:
            by_person[line.user_id, line.member].append((line, posting_id))
        line.due_at = now + max(now - line.noted_at, FIRST_CHECK_AFTER)
    done = {line.pk for key, some in by_person.items() if _applied(key[1], some, now) for line, _ in some}
    done |= {line.pk for line in lines if now - line.noted_at > ABANDONED_AFTER}
    Waiting.objects.filter(pk__in=done).delete()
    Waiting.objects.bulk_update([line for line in lines if line.pk not in done], ["due_at"], batch_size=1_000)
    return len(lines)


def _applied(member: str, some: list[tuple[Waiting, int]], now: datetime) -> bool:
    """Apply lines of one person; False if a limit or rule forbids it for now."""
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
    """Delete a user with all data, and stop checking sources without other followers.

    Raises accounts.NotPossible for the last administrator.
    """
    source_ids = list(following.follows_of(user).values_list("source_id", flat=True))
    readers.delete_own_source(user)
    # Messages first and in the order in which senders lock them, or the two could deadlock.
    list(Message.objects.filter(user=user).order_by("pk").select_for_update().values_list("pk"))
    jobs.claiming.forget_requester(user.username)
    newsletters.forget_newsletters(user)
    accounts.delete_account(user)
    retrieval.adopt_sources(source_ids, now=now)
