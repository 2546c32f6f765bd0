"""Messages of devices with the marks that were made offline."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple, Self, cast, get_args
from uuid import UUID

Field = Literal["read", "starred"]

MAX_CHANGES = 200  # in one message
MAX_MESSAGE_BYTES = 100_000  # 200 changes take a third of it
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = 4_102_444_800_000  # ms; the year 2100
_MAX_ID = 2**63 - 1


class BadMessage(ValueError):
    """A message cannot be read; the message of the error says where."""


class QueuedChange(NamedTuple):
    id: UUID  # by the device, and the same when it is sent again
    posting_id: int
    field: Field
    value: bool
    made_at: datetime  # by the device's clock

    def at(self, made_at: datetime) -> Self:
        """The same change, made at that time."""
        return self._replace(made_at=made_at)


class Message(NamedTuple):
    person: str  # id of the user, as stored by the device
    sent_at: datetime  # by the device's clock
    changes: tuple[QueuedChange, ...]
    refused: tuple[str, ...]  # ids of invalid changes


def parse(body: bytes) -> Message:
    """Read a message. Invalid changes are refused singly, so that they do not block the others.

    Raises BadMessage if the message is invalid or too large.

    Examples
    --------
    >>> message = parse(b'''{"person": "p", "sent_at": 1714564800000, "changes": [
    ...     {"id": "7d4a9b1e-3f60-4c0b-9d6b-1f2f4b8b2a11", "posting": 7, "field": "starred", "value": true,
    ...      "made_at": 1714561200000},
    ...     {"id": "another", "posting": 8}]}''')
    >>> [(change.posting_id, change.field, change.made_at.hour) for change in message.changes], message.refused
    ([(7, 'starred', 11)], ('another',))
    """
    if len(body) > MAX_MESSAGE_BYTES:
        raise BadMessage(f"The message has {len(body):,} bytes; at most {MAX_MESSAGE_BYTES:,} can be read.")
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadMessage("The message is not JSON.") from error
    if not isinstance(data, dict) or not isinstance(data.get("changes"), list):
        raise BadMessage("The message has no list “changes”.")
    if len(data["changes"]) > MAX_CHANGES:
        raise BadMessage(f"The message has {len(data['changes']):,} changes; send at most {MAX_CHANGES} at a time.")
    person, sent_at = data.get("person"), _time(data.get("sent_at"))
    if not isinstance(person, str) or sent_at is None:
        raise BadMessage("The message does not say whose it is (“person”) or when it was sent (“sent_at”).")
    changes: list[QueuedChange] = []
    refused: list[str] = []
    for one in data["changes"]:
        change = _change(one) if isinstance(one, dict) else None
        if change is not None:
            changes.append(change)
        elif isinstance(one, dict) and isinstance(one.get("id"), str):
            refused.append(one["id"][:100])
    return Message(person, sent_at, tuple(changes), tuple(refused))


def _change(data: Mapping[str, Any]) -> QueuedChange | None:
    posting_id, field, value, made_at = (data.get(name) for name in ("posting", "field", "value", "made_at"))
    at = _time(made_at)
    try:
        change_id = UUID(data["id"]) if isinstance(data.get("id"), str) else None
    except ValueError:
        return None
    if change_id is None or str(change_id) != data["id"] or at is None or field not in get_args(Field):
        return None
    if type(posting_id) is not int or not 0 < posting_id <= _MAX_ID or not isinstance(value, bool):
        return None
    return QueuedChange(change_id, posting_id, cast(Field, field), value, at)


def _time(milliseconds: object) -> datetime | None:
    if type(milliseconds) is not int or not 0 <= milliseconds <= _LATEST:
        return None
    return _EPOCH + timedelta(milliseconds=milliseconds)
