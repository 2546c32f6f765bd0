"""Archives of accounts, changed ones too, and what importing them leaves."""

import zipfile
from datetime import timedelta
from io import BytesIO

from apps.account_data import actions, queries
from apps.accounts.models import User
from apps.alerts.models import NotificationSettings, Rule
from apps.following.models import Folder, Follow, Highlight, Mark, Note, Playback, Reading, Tag
from apps.search.models import SavedSearch
from apps.stories.models import Reaction
from tests.builders import NOON

HOUR = timedelta(hours=1)
LATER = NOON + timedelta(days=1)


def archive_of(user: User) -> bytes:
    return b"".join(queries.archive_of(user, now=LATER))


def members_of(archive: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(archive)) as opened:
        assert opened.testzip() is None
        return {name: opened.read(name) for name in opened.namelist()}


def rewritten(archive: bytes, **members: bytes | None) -> BytesIO:
    """The archive with other contents of some members, whose names are written with two underscores for a dot."""
    changed = members_of(archive) | {name.replace("__", "."): data for name, data in members.items()}
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, data in changed.items():
            if data is not None:
                opened.writestr(name, data)
    return file


def import_archive(user: User, archive: bytes | BytesIO) -> actions.Report:
    file = BytesIO(archive) if isinstance(archive, bytes) else archive
    return actions.import_file(user, file, "archive.zip", now=LATER)


def everything(user: User) -> dict[str, object]:
    """All data of a user, without primary keys."""
    reactions = Reaction.objects.filter(user=user).order_by("posting").values_list("posting", "opened_at", "hidden_at")
    searches = SavedSearch.objects.filter(user=user, plain__isnull=True).values_list(
        "name", "query", "order", "percolator_query__importance"
    )
    rules = Rule.objects.filter(saved__user=user).values_list("mark_read", "star", "hide", "tag", "mail", "webhook_url")
    person = User.objects.get(pk=user.pk)
    return {
        "preferences": (person.unread_only, person.order, person.images, person.time_zone),
        "follows": sorted(
            (follow.source_id, follow.title, follow.unread_from, sorted(map(str, follow.folders.all())))
            for follow in Follow.objects.filter(user=user)
        ),
        "folders": sorted((str(each), str(each.parent)) for each in Folder.objects.filter(user=user)),
        "marks": sorted(
            Mark.objects.filter(user=user).values_list("posting", "read", "starred_at", "changed_at"), key=str
        ),
        "tags": sorted(Tag.objects.filter(user=user).values_list("name", "postings")),
        "notes": sorted(Note.objects.filter(user=user).values_list("posting", "text", "changed_at")),
        "highlights": sorted(
            Highlight.objects.filter(user=user).values_list("posting", "quote", "prefix", "suffix", "note", "made_at")
        ),
        "history": sorted(Reading.objects.filter(user=user).values_list("posting", "read_at")),
        "places": sorted(Playback.objects.filter(user=user).values_list("posting", "address", "seconds", "changed_at")),
        "reactions": list(reactions),
        "searches": list(searches),
        "rules": sorted(rules),
        "plain rules": sorted(
            (saved.plain["words"], saved.plain["place"][:6], saved.plain["keep"], saved.rule.highlight, saved.rule.tag)
            for saved in SavedSearch.objects.filter(user=user, plain__isnull=False)
        ),
        "notifications": list(
            NotificationSettings.objects.filter(user=user).values_list(
                "quiet_from", "quiet_until", "digest_hour", "most_a_day"
            )
        ),
    }


def without_postings(rows) -> list[tuple[object, ...]]:
    return sorted((row[1:] for row in rows), key=str)
