"""Stored summaries of postings. Triggers on postings fill the outbox."""

from django.contrib.postgres.fields import ArrayField
from django.db import models


class OutboxRow(models.Model):
    """A posting that has changed or was deleted. Written by triggers, deleted by `actions.consume`.

    There may be several rows of a posting; a consumer deletes only the rows that it has read.
    """

    posting_id = models.BigIntegerField()


class Outline(models.Model):
    """A summarized posting and its characteristic words."""

    posting_id = models.BigIntegerField(primary_key=True)
    text_hash = models.BinaryField(max_length=16)  # the posting's, when it was summarized
    language = models.CharField(max_length=3)
    words = ArrayField(models.TextField())  # the heaviest first, as the posting spells them

    class Meta:
        indexes = [models.Index(fields=["language", "-posting_id"], name="summaries_outline_newest")]


class Summary(models.Model):
    """The sentences of a posting that make up a percentage of it; short postings have none."""

    pk = models.CompositePrimaryKey("posting_id", "percent")
    posting_id = models.BigIntegerField()
    percent = models.SmallIntegerField()
    places = ArrayField(models.IntegerField())  # start and end in the text, in turn


class Teaser(models.Model):
    """The text from the feed of a posting whose text was replaced by that of its page. Written by a trigger."""

    posting_id = models.BigIntegerField(primary_key=True)
    text = models.TextField()


class Vocabulary(models.Model):
    """Document frequencies of terms in the portal's newest postings of a language."""

    language = models.CharField(max_length=3, primary_key=True)
    documents = models.IntegerField()
    terms = models.BinaryField()  # see `algorithms.vectors.pack`
    counted_at = models.DateTimeField()
