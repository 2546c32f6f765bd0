"""A cache of migrated Postgres clusters: a copy takes less than a second, a migration many."""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from portal.launcher import embedded, privileges

ROOT = Path(__file__).resolve().parents[1]
# Other inputs of a cluster: packages with migrations, and the programs that make it.
MADE_BY = ("portal/requirements.lock", "portal/launcher/servers.py", "portal/launcher/preparation.py")
MAX_CLUSTERS = 4  # the least recently used ones beyond are removed


def copy(data: Path, *, make: Callable[[Path], None]) -> None:
    """Copy the cluster of this program's migrations to `data`; `make` creates it if it is not cached."""
    try:
        cache = _folder()
    except OSError:  # without a home directory, for example
        make(data)
        return
    with (cache / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cluster = cache / key()
        if not cluster.exists():
            _make(cluster, make)
            _prune(cache)
        os.utime(cluster)
        shutil.copytree(cluster, data)
    privileges.hand_over(data, *data.rglob("*"))


def key() -> str:
    """The name of the cluster: a hash of migrations and the build of Postgres."""
    postgres = embedded.postgres_programs() / "postgres"
    found = postgres.stat()
    digest = hashlib.sha256(f"{postgres} {found.st_size} {found.st_mtime_ns}".encode())
    migrations = (file for app in ("apps", "portal", "lab") for file in (ROOT / app).rglob("migrations/*.py"))
    for file in [*sorted(migrations), *(ROOT / name for name in MADE_BY)]:
        digest.update(f"\0{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:20]


def _folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    folder = (Path(base) if base.startswith("/") else Path.home() / ".cache") / "wirebeat" / "clusters"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _make(cluster: Path, make: Callable[[Path], None]) -> None:
    """Make a cluster. It gets its name last, when it is on disk, so that an incomplete one is not used."""
    unfinished = cluster.with_suffix(".new")
    shutil.rmtree(unfinished, ignore_errors=True)
    make(unfinished)
    os.sync()
    unfinished.rename(cluster)


def _prune(cache: Path) -> None:
    clusters = [path for path in cache.iterdir() if path.is_dir()]
    for unused in sorted(clusters, key=lambda path: path.stat().st_mtime, reverse=True)[MAX_CLUSTERS:]:
        shutil.rmtree(unused, ignore_errors=True)
