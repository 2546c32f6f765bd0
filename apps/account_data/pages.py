"""The page of archives."""

from django.utils.translation import gettext_lazy as _

from apps.account_data.actions import Report

NAMES = {
    "account.json": _("Preferences"),
    "following.opml": _("Feeds you follow"),
    "folders.jsonl": _("Folders"),
    "follows.jsonl": _("Feed settings"),
    "marks.jsonl": _("Read and starred"),
    "tags.jsonl": _("Tagged"),
    "reactions.jsonl": _("Opened and hidden"),
    "searches.json": _("Saved searches"),
    "wishes.json": _("Notification settings"),
}


def restored_rows(report: Report) -> list[tuple[str, int]]:
    """What was imported, by its name on pages."""
    return [(str(NAMES.get(name, name)), count) for name, count in report.restored.items() if count]
