"""How often somebody may do something, counted where all processes of the portal see it."""

from dataclasses import dataclass
from hashlib import sha256

from django.core.cache import cache


@dataclass(frozen=True, slots=True)
class Limit:
    name: str
    most: int
    seconds: int  # of a window; it begins with the first time

    def count(self, whom: str) -> bool:
        """Count one time more; whether it is within the limit."""
        key = self._key(whom)
        if cache.add(key, 1, self.seconds):
            return True
        try:
            return bool(cache.incr(key) <= self.most)
        except ValueError:  # the window ended in between
            return True

    def is_reached(self, whom: str) -> bool:
        return bool(cache.get(self._key(whom), 0) >= self.most)

    def _key(self, whom: str) -> str:
        return f"limit:{self.name}:{sha256(whom.encode()).hexdigest()}"
