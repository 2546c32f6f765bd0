"""What the benchmark commands share: an empty database to work in, real processes, and figures as JSON."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError

from apps.sources.models import Source


def require_empty_database() -> None:
    """Refuse to work among somebody's sources.

    Raises
    ------
    CommandError
        If the database holds any.
    """
    if Source.objects.exists():
        raise CommandError(
            "This database holds sources; a benchmark fills it with its own. Unset DATABASE_URL to run on throw-away "
            "servers, or name an empty database."
        )


def write_figures(path: str | None, figures: Mapping[str, float]) -> None:
    if path:
        Path(path).write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


@contextmanager
def celery(*arguments: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A real Celery process of this portal, stopped at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "portal", *arguments],
        cwd=settings.BASE_DIR,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def cpu_seconds(pid: int) -> float:
    """User and system time that a process has used (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
