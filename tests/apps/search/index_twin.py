"""A simple index: readings of postings in a dictionary, scanned for every query."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from apps.postings.algorithms.words import STOP_MARK
from apps.postings.models import Posting
from apps.search.algorithms.index.reading import Reading, read


def reading_of(posting: Posting) -> Reading:
    return read(
        posting.title,
        posting.text,
        language=posting.language or posting.source.language,
        author=posting.author,
        categories=posting.categories,
    )


@dataclass
class Twin:
    readings: dict[int, Reading] = field(default_factory=dict)  # by posting, in the order in which they were read
    published: dict[int, datetime] = field(default_factory=dict)

    def pull(self) -> None:
        """See what Postgres holds now, new and edited postings behind those that are known."""
        postings = list(Posting.objects.select_related("source").order_by("pk"))
        self.published = {posting.pk: posting.published_at for posting in postings}
        now = {posting.pk: reading_of(posting) for posting in postings}
        kept = {id: known for id, known in self.readings.items() if now.get(id) == known}
        self.readings = kept | now

    def terms_of(self, posting_id: int) -> Counter:
        reading = self.readings[posting_id]
        return Counter([*(item for item in reading.sequence if item[0] != STOP_MARK), *reading.pairs])

    def counts_of(self, posting_id: int) -> Counter:
        """As they are worth: words of titles twice."""
        reading = self.readings[posting_id]
        title = reading.sequence[: reading.title_length]
        return self.terms_of(posting_id) + Counter(item for item in title if item[0] != STOP_MARK)

    def held_by(self, posting_id: int) -> set[str]:
        reading = self.readings[posting_id]
        return {*reading.sequence, *reading.pairs, *filter(None, reading.names)}

    @property
    def average_length(self) -> float:
        return sum(self.counts_of(id).total() for id in self.readings) / max(len(self.readings), 1)

    def document_frequency(self, term: str) -> int:
        return sum(term in self.held_by(id) for id in self.readings)

    def scores(self, weights: dict[str, float], average_lengths: dict[int, float]) -> dict[int, float]:
        """By posting, what `best` gives for weighted terms, as far as it is above 0.

        Postings in segments have the average length at the time of building, from `average_lengths`.
        """
        found = {}
        for id in self.readings:
            counts = self.counts_of(id)
            burden = 1.2 * (0.4 + 0.6 * counts.total() / average_lengths.get(id, self.average_length))
            score = sum(weight * counts[term] * 2.2 / (counts[term] + burden) for term, weight in weights.items())
            if score > 0:
                found[id] = score
        return found

    def newest(self, posting_ids: list[int]) -> list[int]:
        return sorted(posting_ids, key=lambda id: (self.published[id], id), reverse=True)
