"""How far addresses are parsed as the test cases of the WHATWG URL standard require."""

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from apps.sources.algorithms.addresses import absolute, resolve
from lab.harness import LabCommand


class Command(LabCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--hostile", type=Path, required=True, metavar="DIR", help="Folder that holds urltestdata.json."
        )

    def measure(self, *args: object, hostile: Path, **options: Any) -> Mapping[str, float]:
        file = next(iter(sorted(hostile.rglob("urltestdata.json"))), None)
        if file is None:
            raise CommandError(f"There is no urltestdata.json in {hostile}.")
        cases = [case for case in json.loads(file.read_text("utf-8")) if isinstance(case, dict)]  # the rest is remarks
        failures = [case for case in cases if not _passes(case)]
        for case in failures:
            self.say(f"failed: {case['input']!a} on {case.get('base')!a}")
        result = {"cases": len(cases), "passed": len(cases) - len(failures)}
        self.say("{passed} of {cases} cases passed.".format(**result))
        return result


def _passes(case: dict[str, Any]) -> bool:
    """Whether any scheme is resolved as required, and only web addresses are accepted."""
    base = case.get("base") or ""
    url = resolve(case["input"], base)
    wanted = case.get("href")
    of_the_web = wanted if wanted and wanted.startswith(("http:", "https:")) and case["input"].strip() else ""
    return (url.href if url else None) == wanted and absolute(case["input"], base) == of_the_web
