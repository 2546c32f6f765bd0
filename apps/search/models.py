"""The index: documents in the order in which they became searchable, and inverted segments of them (generations).

A document is one version of a posting, and its number is never reused: an edit adds a document and deletes the old one.
Neither the content under a number nor the postings of a segment ever change, so readers may cache them. Only the flags
of dead documents and the frequencies of terms change.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Head(models.Model):
    """The one row that identifies an index, which gets another one when it is emptied, and counts documents.

    Any change of segments or deletion of a document increments the revision: what was read of them may be cached under
    it. New documents in the in-memory segment change only the next number.
    """

    next_document = models.IntegerField(default=0)
    revision = models.BigIntegerField(db_default=0)


class OutboxRow(models.Model):
    """A posting that may have changed. Written by triggers, consumed by `actions.consume`.

    A posting may have several. A consumer deletes only rows that it has read, so one written meanwhile is not lost.
    """

    posting_id = models.BigIntegerField()
    rebuild = models.BooleanField(default=False)  # index it again even if unchanged, after all other rows

    class Meta:
        indexes = [models.Index(fields=["rebuild", "id"], name="search_change_turn")]


class Term(models.Model):
    """A term, a stop word (marked) or a word of a name (marked), with its document frequency in segments."""

    id = models.AutoField(primary_key=True)
    term = models.TextField(db_collation="C")
    document_frequency = models.IntegerField(default=0)  # less those in `Loss`

    class Meta:
        constraints = [models.UniqueConstraint(fields=["term"], name="search_term_once")]


class Loss(models.Model):
    """Documents of a term that died since its frequency was updated; a row each, so that writers do not conflict."""

    term_id = models.IntegerField(db_index=True)
    documents = models.IntegerField()


class Document(models.Model):
    """A version of a posting as numbers of terms, from which segments are built."""

    number = models.IntegerField(primary_key=True)
    posting_id = models.BigIntegerField()
    text_hash = models.BinaryField(max_length=16)  # of the posting when it was indexed
    source_id = models.BigIntegerField()
    published_at = models.DateTimeField()
    language = models.CharField(max_length=3)
    title_length = models.IntegerField()  # items of `sequence` from its title
    dead = models.BooleanField(default=False)  # only in the in-memory segment; otherwise in its generation
    sequence = models.BinaryField()  # int32: words in their order, stop words negative
    pairs = models.BinaryField()  # int32: terms that are no words of the sequence, of scripts without spaces
    names = models.BinaryField()  # int32: words of its author and of its categories, each name after a 0

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["posting_id"], condition=Q(dead=False), name="search_document_once"),
        ]
        indexes = [models.Index(fields=["number"], condition=Q(dead=True), name="search_document_dead")]


class Generation(models.Model):
    """A segment of the documents `first` to `first + size - 1`. Binary columns are arrays with a value per document."""

    id = models.AutoField(primary_key=True)
    first = models.IntegerField()
    size = models.IntegerField()
    average_length = models.FloatField()  # that its impacts were computed with
    impact_version = models.TextField()  # `bm25.IMPACT_VERSION` when its impacts were computed
    latest = models.DateTimeField()  # publication
    tokens = models.BigIntegerField()  # of those alive
    dead_count = models.IntegerField(default=0)
    dropped = models.IntegerField(default=0)  # dead documents without postings
    dead = models.BinaryField()  # one bit each
    posting_ids = models.BinaryField()  # int64
    source_ids = models.BinaryField()  # int32
    published = models.BinaryField()  # int64, microseconds since 1970
    languages = models.BinaryField()  # three ASCII characters

    class Meta:
        constraints = [models.UniqueConstraint(fields=["first"], name="search_generation_first")]

    @property
    def end(self) -> int:
        return self.first + self.size

    @property
    def alive(self) -> int:
        return self.size - self.dead_count


class Row(models.Model):
    """The postings of a term in a generation: offsets from its first document, uint16, and then impacts, uint8."""

    pk = models.CompositePrimaryKey("term_id", "generation_id")
    term_id = models.IntegerField()
    generation_id = models.IntegerField()
    largest = models.SmallIntegerField()  # impact
    postings = models.BinaryField()

    class Meta:
        indexes = [models.Index(fields=["generation_id"], name="search_row_generation")]


class SpelledWord(models.Model):
    """A word of postings in lower case, with its document frequency in the newest ones."""

    word = models.TextField(primary_key=True)
    documents = models.IntegerField()


class SavedSearch(models.Model):
    """A saved search of a user, also a feed under a secret address."""

    class Order(models.TextChoices):
        RELEVANCE = "relevance", _("Best match")
        FRESH = "fresh", _("Best & recent")
        NEWEST = "newest", _("Newest first")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_searches")
    name = models.CharField(max_length=100)
    query = models.CharField(max_length=1_000)
    order = models.CharField(max_length=9, choices=Order, default=Order.RELEVANCE)
    secret = models.CharField(max_length=43, unique=True)  # in the address of its feed
    saved_at = models.DateTimeField()
    # The fields of a rule that is written without the query language; null for any other search. See `alerts`.
    plain = models.JSONField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="search_saved_once")]

    def __str__(self) -> str:
        return self.name
