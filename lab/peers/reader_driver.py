"""Runs in the Python of `reader`: imports a list of feeds, checks them, and prints what is stored."""

import json
import socket
import sys
from typing import Any

WORKERS = 10

_resolve = socket.getaddrinfo


def _resolve_here(host: Any, *arguments: Any, **options: Any) -> Any:
    """Names below localhost are this machine (RFC 6761), which not every resolver knows."""
    here = isinstance(host, str) and host.endswith(".localhost")
    return _resolve("127.0.0.1" if here else host, *arguments, **options)


def main(action: str, database: str) -> None:
    from reader import make_reader  # type: ignore[import-not-found]  # noqa: PLC0415

    reader = make_reader(database)
    if action == "add":
        for line in sys.stdin:
            reader.add_feed(line.strip())
    elif action == "update":
        reader.update_feeds(workers=WORKERS, scheduled=False)
    else:
        for entry in reader.get_entries():
            print(json.dumps([entry.feed_url, entry.title or "", entry.link or ""]))


if __name__ == "__main__":
    socket.getaddrinfo = _resolve_here
    main(sys.argv[1], sys.argv[2])
