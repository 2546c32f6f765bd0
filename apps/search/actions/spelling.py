"""The vocabulary of spelling suggestions."""

from django.db import transaction
from django.db.models.functions import Left

from apps.database.statements import copy_rows
from apps.postings.models import Posting
from apps.search.algorithms.spelling import counted_words
from apps.search.models import SpelledWord

MAX_READ = 50_000  # postings, the newest
READ = 1_000  # characters of the text of each
MAX_KEPT = 100_000  # words
MIN_DOCUMENTS = 3  # of a word; a rarer one may be a misspelling


def learn_spelling() -> int:
    """Replace the vocabulary by the words of the newest postings; returns its size."""
    listed = Posting.objects.filter(source__listed=True)  # suggestions are public
    newest = listed.order_by("-pk").values_list("title", Left("text", READ))[:MAX_READ]
    counts = counted_words(f"{title}\n{text}" for title, text in newest.iterator(2_000))
    kept = [(word, documents) for word, documents in counts.most_common(MAX_KEPT) if documents >= MIN_DOCUMENTS]
    with transaction.atomic():
        SpelledWord.objects.all().delete()
        copy_rows("COPY search_spelledword (word, documents) FROM STDIN (FORMAT BINARY)", ["text", "int4"], kept)
    return len(kept)
