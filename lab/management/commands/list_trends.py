"""Print the terms that the portal would have listed at hours of a recording, so that people can judge them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from lab.evaluations.trending.recorded import as_markdown, drawn_hours, listed, read_hours
from lab.harness import LabCommand, Result, add_items


class Command(LabCommand):
    help = "Print the first 20 terms of the last hours, at hours drawn from a recording."
    seed = 1

    def add_arguments(self, parser: CommandParser) -> None:
        add_items(parser)
        parser.add_argument("--first", type=_date, required=True, help="day from which hours are drawn, as 2023-02-01")
        parser.add_argument("--last", type=_date, required=True, help="day before which hours are drawn")
        parser.add_argument("--hours", type=int, default=10, help="hours that are drawn")
        parser.add_argument("--history", type=int, default=48, help="hours before that are known; 0: a new portal")
        parser.add_argument("--language", default="en")

    def measure(
        self,
        *,
        items: Path,
        first: datetime,
        last: datetime,
        hours: int,
        history: int,
        language: str,
        seed: int,
        **_: Any,
    ) -> Result:
        drawn = drawn_hours(first, last, hours, seed)
        postings = read_hours(items, drawn, language, history)
        lists = {hour: listed(postings[hour], hour, language, history) for hour in drawn}
        for line in as_markdown(lists):
            self.say(line)
        terms = sum(map(len, lists.values()))
        return Result({"lists": hours, "terms": terms})


def _date(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
