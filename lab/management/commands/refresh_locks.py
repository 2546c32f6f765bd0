"""Locks the newest versions that the project allows, with their hashes. Needs the package index."""

import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from lab.harness import LabCommand

LOCKS: Mapping[str, tuple[str, ...]] = {"requirements.lock": (), "requirements-test.lock": ("--extra", "test")}
OPTIONS = ("--universal", "--generate-hashes", "--python-version", "3.11", "pyproject.toml")


class Command(LabCommand):
    help = f"{__doc__} Run all tests afterwards, and update the list of licences."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--package", help="upgrade this one alone (default: all)")
        parser.add_argument("--into", type=Path, help="write the files into this folder instead of portal/")

    def measure(self, *args: Any, package: str | None, into: Path | None, **_: Any) -> Mapping[str, int]:
        folder = settings.BASE_DIR / "portal"
        upgrade = ["--upgrade-package", package] if package else ["--upgrade"]
        changed = 0
        for name, extra in LOCKS.items():
            before = (folder / name).read_text(encoding="utf-8")
            target = (into or folder) / name
            if into is not None:
                target.write_text(before, encoding="utf-8")  # versions stay unless they are upgraded
            command = [sys.executable, "-m", "uv", "pip", "compile", *OPTIONS, *extra, *upgrade, "-o", str(target)]
            done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=False)
            if done.returncode:
                raise CommandError(done.stderr.strip())
            changed += target.read_text(encoding="utf-8") != before
        self.say(f"{changed} of {len(LOCKS)} locks changed.")
        return {"changed": changed}
