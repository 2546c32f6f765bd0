"""Reports of events, each of another source."""

from datetime import timedelta
from hashlib import blake2b

from django.utils import timezone

from apps.postings.models import Posting
from tests.builders import a_posting, a_source

STORM = (
    "Storm floods the streets of Lisbon on Friday night",
    "Streets of Lisbon flooded after heavy storm",
    "Storm floods the streets of Lisbon on Friday night",
)
BUDGET = ("Parliament rejects the budget of the finance minister", "Finance minister loses budget vote in parliament")


def publish(*titles: str, listed: bool = True, hours_ago: float = 1.0, language: str = "en") -> list[Posting]:
    """One report of each title, each of another source, ten minutes apart."""
    at = timezone.now() - timedelta(hours=hours_ago)
    return [
        a_posting(
            a_source(listed=listed, language=language, title=f"Paper {number} of {title.split()[0]}"),
            title=title,
            text="",
            text_hash=blake2b(f"{title}{number}".encode(), digest_size=16).digest(),
            language=language,
            published_at=at + timedelta(minutes=10 * number),
        )
        for number, title in enumerate(titles)
    ]
