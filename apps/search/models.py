"""The index: documents in the order in which they became searchable, and generations of them turned inside out.

A document is one version of a posting, and its number is never given again: an edit is a new document and the end of
the old one. What is written under a number never changes, nor do the postings of a generation, so that whoever has read
them may keep them. What does change is small: which documents are dead, and what each term is worth.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Head(models.Model):
    """The one row that tells an index from one that was emptied and filled again, and gives out numbers.

    Whoever changes anything that was sealed, or ends a document, counts the revision up: what was read of those under
    one revision may be remembered. New documents of the tail alone only change the next number.
    """

    next_document = models.IntegerField(default=0)
    revision = models.BigIntegerField(db_default=0)


class OutboxRow(models.Model):
    """A posting that may not be as search has seen it. Written by triggers, taken out by `actions.pull`.

    There may be several of a posting. A change is only taken out by who has seen it, so that one which was written
    while another was worked on is not lost.
    """

    posting_id = models.BigIntegerField()
    anew = models.BooleanField(default=False)  # to be read again even if its words are known; waits behind all others

    class Meta:
        indexes = [models.Index(fields=["anew", "id"], name="search_change_turn")]


class Term(models.Model):
    """A term, a stop word (marked) or a word of a name (marked), and how many sealed documents hold it."""

    id = models.AutoField(primary_key=True)
    term = models.TextField(db_collation="C")
    document_frequency = models.IntegerField(default=0)  # less those in `Loss`

    class Meta:
        constraints = [models.UniqueConstraint(fields=["term"], name="search_term_once")]


class Loss(models.Model):
    """Documents of a term that died since it was last counted: a row each time, so that writers need not meet."""

    term_id = models.IntegerField(db_index=True)
    documents = models.IntegerField()


class Document(models.Model):
    """What a posting says, as numbers of terms: all that generations are made of."""

    number = models.IntegerField(primary_key=True)
    posting_id = models.BigIntegerField()
    text_hash = models.BinaryField(max_length=16)  # the posting's, when it was read
    source_id = models.BigIntegerField()
    published_at = models.DateTimeField()
    language = models.CharField(max_length=3)
    title_length = models.IntegerField()  # how many items of `sequence` are of its title
    dead = models.BooleanField(default=False)  # only until it is sealed; then its generation says so
    sequence = models.BinaryField()  # int32: words in their order, stop words negative
    pairs = models.BinaryField()  # int32: terms that are no words of the sequence, of scripts without spaces
    names = models.BinaryField()  # int32: words of its author and of its categories, each name after a 0

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["posting_id"], condition=Q(dead=False), name="search_document_once"),
        ]
        indexes = [models.Index(fields=["number"], condition=Q(dead=True), name="search_document_dead")]


class Generation(models.Model):
    """Documents `first` to `first + size - 1`, sealed. The columns are arrays with one value per document."""

    id = models.AutoField(primary_key=True)
    first = models.IntegerField()
    size = models.IntegerField()
    average_length = models.FloatField()  # which its impacts were reckoned with
    impact_version = models.TextField()  # `bm25.IMPACT_VERSION` when its impacts were computed
    earliest = models.DateTimeField()  # publication
    latest = models.DateTimeField()
    tokens = models.BigIntegerField()  # of those alive
    dead_count = models.IntegerField(default=0)
    dropped = models.IntegerField(default=0)  # of the dead, those that its postings do not name any more
    dead = models.BinaryField()  # one bit each
    posting_ids = models.BinaryField()  # int64
    source_ids = models.BinaryField()  # int32
    published = models.BinaryField()  # int64, microseconds since 1970
    languages = models.BinaryField()  # three ASCII characters

    class Meta:
        constraints = [models.UniqueConstraint(fields=["first"], name="search_generation_first")]


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
    """A word as postings spell it, in lower case, and how many of the newest ones hold it."""

    word = models.TextField(primary_key=True)
    documents = models.IntegerField()


class SavedSearch(models.Model):
    """A search that a person keeps, also as a feed under an address that only they know."""

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

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="search_saved_once")]

    def __str__(self) -> str:
        return self.name
