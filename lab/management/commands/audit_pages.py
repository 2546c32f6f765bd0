"""Audit the pages of a running demo with Lighthouse: speed, accessibility and good practice, of 100 points each.

The middle of three runs counts, as points for speed vary with what else the machine does.
"""

import json
import shutil
import subprocess
import tempfile
from argparse import ArgumentParser
from collections.abc import Mapping
from os import environ
from pathlib import Path
from statistics import median
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from apps.postings.models import Posting
from lab.browsing import DEMO, admin_who_follows, chromium, replayed_feeds
from lab.harness import LabCommand, table

LIGHTHOUSE = "lighthouse@12.8.2"  # the newest that runs on Node 18 and 20
CATEGORIES = ("performance", "accessibility", "best-practices")
LEAST = 95  # points
RUNS = 3  # of each page
DEVICES: Mapping[str, tuple[str, ...]] = {"phone": (), "desktop": ("--preset=desktop",)}
FLAGS = "--headless=new --no-sandbox --disable-dev-shm-usage"
UNRECORDED = "NO_NAVSTART"  # Lighthouse missed the beginning of the page load, and advises to run it again
ATTEMPTS = 4
TIMEOUT = 300.0  # s; the machine may be busy


class Command(LabCommand):
    help = f"{__doc__} First start `manage.py up` and, in another terminal, `{DEMO}`. Needs Node.js."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--url", default="http://localhost:8000", help="of the portal (default: %(default)s)")
        parser.add_argument("--least", type=int, default=LEAST, help="points of each (default: %(default)s)")

    def measure(self, *args: Any, url: str, least: int, **_: Any) -> Mapping[str, float]:
        if shutil.which("npx") is None:
            raise CommandError("Install Node.js, whose npx runs Lighthouse.")
        feeds = replayed_feeds()
        article = Posting.objects.filter(source__in=feeds).order_by("-published_at", "-pk").first()
        if article is None:
            raise CommandError("No article has been retrieved yet: wait a minute.")
        pages = {"front": ("/", False), "list": ("/river/", True), "article": (f"/posting/{article.pk}/", True)}
        figures: dict[str, float] = {}
        with admin_who_follows(feeds) as session:
            cases = [(name, device) for name in pages for device in DEVICES]
            for name, device in self.track(cases, "Pages"):
                path, is_signed_in = pages[name]
                runs = [audited(url + path, DEVICES[device], session if is_signed_in else "") for _ in range(RUNS)]
                for category in CATEGORIES:
                    figures[f"{name}.{device}.{category}"] = median(found[category] for found in runs)
        shown = table("Points of 100", "page, device", *CATEGORIES)
        for name, device in cases:
            shown.add_row(f"{name}, {device}", *(f"{figures[f'{name}.{device}.{each}']:.0f}" for each in CATEGORIES))
        self.console.print(shown)
        low = [f"{name}: {points:.0f}" for name, points in figures.items() if points < least]
        self.say(f"Below {least}: {', '.join(low)}" if low else f"None is below {least}.")
        return figures


def audited(address: str, options: tuple[str, ...], session: str) -> dict[str, float]:
    """Points by category."""
    headers = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={session}"} if session else {}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            *("npx", "--yes", LIGHTHOUSE, address, "--quiet", "--output=json", f"--output-path={report}"),
            *(f"--only-categories={','.join(CATEGORIES)}", f"--extra-headers={json.dumps(headers)}"),
            *(f"--chrome-flags={FLAGS}", *options),
        ]
        for _ in range(ATTEMPTS):
            done = subprocess.run(
                command, env=environ | {"CHROME_PATH": chromium()}, capture_output=True, text=True, timeout=TIMEOUT
            )
            if UNRECORDED not in done.stderr:
                break
        if done.returncode:
            raise CommandError(f"Lighthouse failed at {address}:\n{done.stderr[-2_000:]}")
        found = json.loads(report.read_text(encoding="utf-8"))
    return {category: 100.0 * (found["categories"][category]["score"] or 0.0) for category in CATEGORIES}
