"""Pages of several readers with the same archive: requests in turn, so that a busy machine slows all of them alike."""

import gzip
import http.client
import statistics
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from urllib.parse import urlsplit

from django.core.management.base import CommandError

from lab.peers.archive import Archive
from lab.peers.base import ON_A_PAGE, PeerWithPages

CLIENTS = 8
TIMEOUT = 600.0  # s
WARM_UP = 3  # requests of each page
QUERIES = 10  # searches of each length
LONGEST_QUERY = 3  # words
PAGES = ("list", "unread", "folder", "feed")

Figures = dict[str, dict[str, float]]  # by reader


def request(peer: PeerWithPages, path: str) -> tuple[float, str]:
    """Seconds until the whole page is here, and the page."""
    client = http.client.HTTPConnection(urlsplit(peer.address).netloc, timeout=TIMEOUT)
    client.connect()
    try:
        begin = time.perf_counter()
        client.request("GET", path, headers=dict(peer.headers))
        response = client.getresponse()
        body = response.read()
        took = time.perf_counter() - begin
    finally:
        client.close()
    if response.status != 200:
        raise CommandError(f"{peer.label} answers {path} with {response.status}.")
    zipped = response.headers.get("Content-Encoding") == "gzip"
    return took, (gzip.decompress(body) if zipped else body).decode(errors="replace")


def time_in_turn(peers: Sequence[PeerWithPages], paths: Mapping[str, Sequence[str]], times: int) -> dict[str, float]:
    """The median time of a page, in ms by reader; paths by reader as well, each in turn."""
    for peer in peers:
        for path in islice(cycle(paths[peer.name]), max(WARM_UP, len(paths[peer.name]))):
            request(peer, path)
    taken: dict[str, list[float]] = {peer.name: [] for peer in peers}
    for number in range(times):
        for peer in peers if number % 2 else reversed(peers):
            path = paths[peer.name][number % len(paths[peer.name])]
            taken[peer.name].append(request(peer, path)[0])
    return {name: 1_000 * statistics.median(seconds) for name, seconds in taken.items()}


def load(peers: Sequence[PeerWithPages], paths: Mapping[str, Sequence[str]], seconds: float) -> dict[str, float]:
    """Requests per second of eight clients, by reader; one reader at a time, there and back again."""
    counts, times = dict.fromkeys(paths, 0), dict.fromkeys(paths, 0.0)
    for peer in [*peers, *reversed(peers)]:
        began = time.monotonic()
        until = began + seconds / 2
        with ThreadPoolExecutor(CLIENTS) as pool:
            clients = [pool.submit(_request_until, peer, paths[peer.name], until) for _ in range(CLIENTS)]
            counts[peer.name] += sum(client.result() for client in clients)
        times[peer.name] += time.monotonic() - began
    return {peer.name: counts[peer.name] / times[peer.name] for peer in peers}


def _request_until(peer: PeerWithPages, paths: Sequence[str], until: float) -> int:
    count = 0
    while time.monotonic() < until:
        request(peer, paths[count % len(paths)])
        count += 1
    return count


def compare(peers: Sequence[PeerWithPages], archive: Archive, *, times: int, seconds: float) -> Figures:
    """Measure all pages while everything is unread, mark everything read, and measure again."""
    figures: Figures = {peer.name: {} for peer in peers}
    for peer in peers:
        peer.sign_in()
    _lists("unread", peers, figures, times, seconds)
    for words in range(1, LONGEST_QUERY + 1):
        queries = archive.draw_words(words, QUERIES)
        paths = {peer.name: [peer.search_page(query) for query in queries] for peer in peers}
        for peer in peers:
            for path in paths[peer.name]:
                if not peer.count_articles(request(peer, path)[1]):
                    raise CommandError(f"{peer.label} finds nothing at {path}.")
        for name, taken in time_in_turn(peers, paths, times).items():
            figures[name][f"search{words}_ms"] = taken
    for peer in peers:
        began = time.monotonic()
        peer.mark_all_read()
        figures[peer.name]["mark_all_s"] = time.monotonic() - began
        if left := peer.count_articles(request(peer, peer.pages()["unread"][0])[1]):
            raise CommandError(f"{peer.label} still shows {left} unread articles.")
    _lists("read", peers, figures, times, seconds)
    return figures


def _lists(state: str, peers: Sequence[PeerWithPages], figures: Figures, times: int, seconds: float) -> None:
    pages = {peer.name: peer.pages() for peer in peers}
    for peer in peers:
        if (shown := peer.count_articles(request(peer, pages[peer.name]["list"][0])[1])) != ON_A_PAGE:
            raise CommandError(f"The list of {peer.label} shows {shown} articles instead of {ON_A_PAGE}.")
    for page in PAGES:
        paths = {name: addresses[page] for name, addresses in pages.items()}
        for name, taken in time_in_turn(peers, paths, times).items():
            figures[name][f"{state}.{page}_ms"] = taken
    paths = {name: addresses["list"] for name, addresses in pages.items()}
    for name, rate in load(peers, paths, seconds).items():
        figures[name][f"{state}.clients_per_s"] = rate
