"""The size of this machine, or of the control group that limits its processes."""

import os
from contextlib import suppress
from pathlib import Path

SMALL = 2**30  # bytes of memory, below which there are fewer processes
_GROUPS = {"": ("", "memory.max"), "memory": ("memory", "memory.limit_in_bytes")}  # by version: 2, 1


def memory(groups: str | None = None, root: Path = Path("/sys/fs/cgroup")) -> int:
    """Bytes that the portal may use; `groups` as in /proc/self/cgroup."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for line in (groups or Path("/proc/self/cgroup").read_text(encoding="utf-8")).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers in _GROUPS:
            folder, name = _GROUPS[controllers]
            group = root / folder / path.lstrip("/")
            for each in (group, *group.parents[: len(Path(path).parts) - 1]):
                with suppress(OSError, ValueError):  # "max" is no limit
                    limits.append(int((each / name).read_text(encoding="ascii")))
    return min(limits)


def is_small() -> bool:
    return memory() < SMALL


def bounded(size: int, lowest: int, highest: int) -> int:
    return min(max(size, lowest), highest)
