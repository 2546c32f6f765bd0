import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from portal import doctor


class Command(BaseCommand):
    help = "Check everything that the portal needs and name a remedy for each problem. Ends with 1 if there is one."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="write a list of objects instead of lines")

    def handle(self, *args: Any, json: bool, **options: Any) -> None:
        found = []
        for finding in doctor.examined():
            found.append(finding)
            if not json:
                self._show(finding)
        wrong = [finding.name for finding in found if finding.is_wrong]
        rest = "All is fine." if all(finding.is_fine for finding in found) else "Nothing is wrong."
        if json:
            self.stdout.write(as_json(found))
        else:
            self.stdout.write(f"Wrong: {', '.join(wrong)}." if wrong else rest)
        if wrong:
            raise SystemExit(1)

    def _show(self, finding: doctor.Finding) -> None:
        if finding.is_fine:
            mark = self.style.SUCCESS("fine ")
        else:
            mark = self.style.ERROR("WRONG") if finding.is_wrong else self.style.WARNING("warn ")
        self.stdout.write(f"{mark}  {finding.name:12}  {finding.text}")
        if finding.advice:
            self.stdout.write(f"{'':21}-> {finding.advice}")


def as_json(found: list[doctor.Finding]) -> str:
    rows = [
        {
            "name": finding.name,
            "said": finding.text,
            "advice": finding.advice,
            "is_warning": finding.is_warning,
            "fine": finding.is_fine,
        }
        for finding in found
    ]
    return json.dumps(rows, indent=1)
