"""What is kept about the texts of postings, so that pages need not read them again.

Postings know nothing of it: triggers note what may have changed.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models


class OutboxRow(models.Model):
    """A posting that may not be as it was summarised. Written by triggers, taken out by `actions.pull`.

    There may be several of a posting. A change is only taken out by who has seen it.
    """

    posting_id = models.BigIntegerField()


class Outline(models.Model):
    """A posting that was read, and the words that tell it from others."""

    posting_id = models.BigIntegerField(primary_key=True)
    text_hash = models.BinaryField(max_length=16)  # the posting's, when it was read
    language = models.CharField(max_length=3)
    words = ArrayField(models.TextField())  # the most telling first, as the posting spells them

    class Meta:
        indexes = [models.Index(fields=["language", "-posting_id"], name="summaries_outline_newest")]


class Summary(models.Model):
    """The sentences of a posting that make up so many percent of it; none of a posting that is short itself."""

    pk = models.CompositePrimaryKey("posting_id", "percent")
    posting_id = models.BigIntegerField()
    percent = models.SmallIntegerField()
    places = ArrayField(models.IntegerField())  # of the text: first character and the one behind the last, in turn


class Teaser(models.Model):
    """What a publisher's feed said of a posting before the words of its page took that place. Written by a trigger."""

    posting_id = models.BigIntegerField(primary_key=True)
    text = models.TextField()


class Vocabulary(models.Model):
    """In how many of the portal's newest postings of a language each term is."""

    language = models.CharField(max_length=3, primary_key=True)
    documents = models.IntegerField()
    terms = models.BinaryField()  # see `algorithms.frequencies.pack`
    counted_at = models.DateTimeField()
