"""What the page of archives shows."""

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class ReportPage:
    rows: tuple[tuple[str, int], ...]
    waiting: int
    left_out: int
    remarks: tuple[str, ...]


def report_page(report: Report) -> ReportPage:
    rows = tuple((str(NAMES.get(name, name)), count) for name, count in report.restored.items() if count)
    return ReportPage(rows, report.waiting, report.left_out, report.remarks)
