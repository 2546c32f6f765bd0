"""A kind of job whose records are the numbers from 0 on. What was committed of them stands in a table of its own."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from django.db import connection

from apps.jobs.kinds import Beat, Kind, Parameters, Piece, Stage, Write

KIND = "count"


def make_table() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE IF NOT EXISTS counted (number int)")
        cursor.execute("TRUNCATE counted")


def drop_table() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE counted")


def counted() -> list[int]:
    """Numbers in order; one that was committed twice would stand twice."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT number FROM counted ORDER BY number")
        return [number for (number,) in cursor.fetchall()]


@dataclass
class Counting:
    """How the job is cut, and what happens while it is worked on."""

    records: int = 12
    per_split: int = 3
    during: Callable[[int, Beat], object] = lambda number, beat: beat()  # at each record
    at_the_end: Callable[[], object] = lambda: None  # of the reduce stage
    begun: list[int] = field(default_factory=list)  # the first record of each split that was worked on, in turn
    backups: bool = True
    in_order: bool = False

    def kind(self) -> Kind:
        return Kind(
            KIND,
            "Count",
            "numbers",
            Stage(self._work, self._cut),
            reduce=Stage(self._reduce, lambda _: [Piece({}, 1, 1.0)]),
            options=("records",),
            backups=self.backups,
            in_order=self.in_order,
        )

    def _cut(self, parameters: Parameters) -> Iterator[Piece]:
        records = parameters.get("records", self.records)
        for first in range(0, records, self.per_split):
            end = min(first + self.per_split, records)
            yield Piece({"first": first, "end": end}, end - first, float(1 + first % 5), f"host{first % 2}")

    def _work(self, split: Parameters, beat: Beat) -> Write:
        numbers = range(split["first"], split["end"])
        self.begun.append(split["first"])
        for number in numbers:
            self.during(number, beat)

        def write() -> dict[str, int]:
            with connection.cursor() as cursor:
                cursor.executemany("INSERT INTO counted (number) VALUES (%s)", [(number,) for number in numbers])
            return {"sum": sum(numbers)}

        return write

    def _reduce(self, _: Parameters, beat: Beat) -> Write:
        self.at_the_end()
        return lambda: {"reduced": 1}
