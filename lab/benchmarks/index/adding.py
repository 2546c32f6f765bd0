"""The time to add 50 postings, alone and beside readers; and how soon a stored posting is found."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from apps.postings import actions as postings
from apps.search import actions
from apps.search.algorithms.index.conditions import Stands
from apps.search.queries import snapshot
from lab.benchmarks.index.searching import Timing, timed
from lab.chaos.index.exercise import exercising, read_output
from lab.harness import workers
from lab.worlds.items import Item, as_document

BATCH = 50  # postings
READERS = 4
WARM_UP = 120.0  # s at most, until readers, worker or beat have begun


def add_batches(items: Sequence[Item], source_id: int, label: str) -> dict[str, Timing]:
    """Time storing postings, 50 at a time, indexing them, and both together."""
    batches = [(f"{label}-{at}", items[at : at + BATCH]) for at in range(0, len(items), BATCH)]
    seconds: dict[str, list[float]] = {"store": [], "pull": []}

    def add(batch: tuple[str, Sequence[Item]]) -> None:
        name, some = batch
        document = as_document(some, source_id, name)
        begin = time.perf_counter()
        [stored] = postings.store([document])
        middle = time.perf_counter()
        consumed = actions.reindexing.consume()
        end = time.perf_counter()
        assert consumed == stored.new
        seconds["store"].append(middle - begin)
        seconds["pull"].append(end - middle)

    both = timed(add, batches)
    return {"both": both} | {name: Timing.of(values, 0.0) for name, values in seconds.items()}


@contextmanager
def readers(*, pause: float) -> Iterator[list[float]]:
    """Four processes that search in a loop, with a pause after each query.

    Yields a list that contains the seconds of each query after the block.
    """
    seconds: list[float] = []
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        outputs = [Path(folder) / str(number) for number in range(READERS)]
        for number, output in enumerate(outputs):
            stack.enter_context(exercising("read", "--label", str(number), "--pause", str(pause), output=output))
        deadline = time.monotonic() + WARM_UP
        while not all(len(read_output(output)) >= 10 for output in outputs):
            if time.monotonic() > deadline:
                raise TimeoutError(f"after {WARM_UP:.0f} seconds not all readers have begun")
            time.sleep(0.1)
        before = [len(read_output(output)) for output in outputs]
        yield seconds
        for output, begin in zip(outputs, before, strict=True):
            seconds += [line["seconds"] for line in read_output(output)[begin:] if "seconds" in line]


def delays_until_found(items: Sequence[Item], source_id: int) -> list[float]:
    """Seconds from the commit of each item until it is found, with the portal's own worker and beat at work."""
    delays = []
    with workers():
        for number, item in enumerate(items):
            word = f"unheardof{number}x"
            unheard = Item(item.source, item.published, f"{item.title} {word}", item.text)
            postings.store([as_document([unheard], source_id, f"found-{number}")])
            begin = time.monotonic()
            while not _is_found(word):
                if time.monotonic() > begin + WARM_UP:
                    raise TimeoutError(f"a posting was not found within {WARM_UP:.0f} seconds: {unheard.title}")
                time.sleep(0.01)
            delays.append(time.monotonic() - begin)
    return delays[1:]  # the first one waited until both had begun


def _is_found(word: str) -> bool:
    with snapshot() as index:
        [number] = index.numbers([word]).tolist()
        return bool(number and index.restricted(Stands((number,))).newest(1))
