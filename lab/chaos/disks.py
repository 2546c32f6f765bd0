"""A small disk for the data of a portal, so that it can be filled."""

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from portal.launcher import privileges
from portal.launcher.embedded import StartError

SIZE = 3_500_000_000  # bytes: with the database, more than the alert for a disk that is nearly full leaves free
NEARLY_FULL = 1_000_000_000  # bytes left, while its alert is awaited
STATUS = Path("/proc/self/status")
CHUNK = 1 << 20  # bytes
REFILLED_EVERY = 0.2  # s: what a process deletes is room again
CAP_SYS_ADMIN = 21  # number of the capability, see capabilities(7); containers have root without it


def may_mount() -> bool:
    """Whether this process may mount a disk."""
    if shutil.which("mount") is None or not STATUS.exists():
        return False
    effective = re.search(r"^CapEff:\s*(\w+)", STATUS.read_text(encoding="ascii"), re.MULTILINE)
    return effective is not None and bool(int(effective[1], 16) >> CAP_SYS_ADMIN & 1)


@contextmanager
def data_folder(folder: Path, *, on_small_disk: bool) -> Iterator[Path]:
    """A new folder; a small disk in memory is mounted there if wanted, which needs root."""
    folder.mkdir()
    if on_small_disk:
        command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0755", "wirebeat", str(folder)]
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
        if mounted.returncode:
            raise StartError(f"A small disk could not be mounted: {mounted.stderr.strip()}")
    try:
        privileges.hand_over(folder)
        yield folder
    finally:
        if on_small_disk:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


class Ballast:
    """A file that takes room away from a disk of its own, until the end of the block."""

    def __init__(self, disk: Path) -> None:
        if not disk.is_mount():
            raise StartError(f"{disk} is no disk of its own, and is not filled.")
        self._disk, self._path = disk, disk / "ballast"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._path.unlink(missing_ok=True)

    def leave(self, left: int) -> None:
        """Fill the disk up to some free bytes."""
        with self._path.open("ab") as file:
            while shutil.disk_usage(self._disk).free > left + CHUNK:
                file.write(bytes(CHUNK))

    def fill(self, seconds: float) -> None:
        """Leave nothing, for some time."""
        until = time.monotonic() + seconds
        with self._path.open("ab", buffering=0) as file:
            while time.monotonic() < until:
                with suppress(OSError):
                    while file.write(bytes(CHUNK)):
                        pass
                time.sleep(REFILLED_EVERY)
