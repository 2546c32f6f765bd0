"""The archive of an account."""

from collections.abc import Iterator
from datetime import datetime

from apps.account_data.formats.container import packed
from apps.account_data.formats.records import document_of
from apps.account_data.members import MEMBERS
from apps.accounts.models import User
from apps.accounts.queries.site import own_address

FORMAT, VERSION = "wirebeat-archive", 1
HEAD, READ_ME = "archive.json", "README.txt"


def archive_of(user: User, *, now: datetime) -> Iterator[bytes]:
    """The archive in pieces; rows are read in batches while it is sent."""
    head = {"format": FORMAT, "version": VERSION, "made_at": now, "portal": own_address("/"), "username": user.username}
    texts = [(HEAD, iter([document_of(head)])), (READ_ME, iter([_read_me(user, now)]))]
    yield from packed([*texts, *((member.name, member.written(user)) for member in MEMBERS)], now)


def _read_me(user: User, now: datetime) -> bytes:
    lines = [
        f"All data of {user.username} at {own_address('/')}, as of {now:%Y-%m-%d %H:%M} UTC.",
        "",
        *(f"{member.name:16} {member.label}" for member in MEMBERS),
        "",
        "Files that end in .jsonl have one entry a line; others are for any reader of feeds.",
        "Any Wirebeat can import this archive: sign in there, and upload it under Account, “Export & import”.",
    ]
    return ("\n".join(lines) + "\n").encode()
