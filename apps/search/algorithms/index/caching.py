"""A thread-safe LRU cache bounded by bytes."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

OVERHEAD = 200  # bytes of an entry without its arrays


class Cache(Generic[Key, Value]):
    """Values by key, up to `room` bytes in all as `weigh` returns them; the least recently used are evicted.

    >>> texts = Cache[int, str](2 * OVERHEAD + 10, len)
    >>> texts.keep({1: "one", 2: "two"})
    >>> texts.among([1, 5])
    {1: 'one'}
    >>> texts.keep({3: "three"})
    >>> texts.among([1, 2, 3])
    {1: 'one', 3: 'three'}
    >>> texts.only({3, 4}.__contains__)
    >>> texts.among([1, 2, 3])
    {3: 'three'}
    """

    def __init__(self, room: int, weigh: Callable[[Value], int]) -> None:
        self.room = room
        self.taken = 0
        self._weigh = weigh
        self._values: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._lock = threading.Lock()

    def among(self, keys: Iterable[Key]) -> dict[Key, Value]:
        """The cached ones of the keys with their values."""
        found = {}
        with self._lock:
            for key in keys:
                if key in self._values:
                    self._values.move_to_end(key)
                    found[key] = self._values[key][0]
        return found

    def keep(self, values: dict[Key, Value]) -> None:
        with self._lock:
            for key, value in values.items():
                size = self._weigh(value) + OVERHEAD
                if key in self._values:
                    self.taken -= self._values.pop(key)[1]
                self._values[key] = (value, size)
                self.taken += size
            while self.taken > self.room:
                _, (_, size) = self._values.popitem(last=False)
                self.taken -= size

    def only(self, is_wanted: Callable[[Key], bool]) -> None:
        """Evict all others."""
        with self._lock:
            for key in [key for key in self._values if not is_wanted(key)]:
                self.taken -= self._values.pop(key)[1]
