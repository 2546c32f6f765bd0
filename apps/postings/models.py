from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

from apps.postings.algorithms.teasers import first_words
from apps.sources.models import Source


class Posting(models.Model):
    """An item that a source published. `postings.actions` are its only writers."""

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="postings", db_index=False)
    identity = models.BinaryField(max_length=16)  # unique within the source
    link_key = models.BinaryField(max_length=16)  # empty if the link does not identify it
    content_hash = models.BinaryField(max_length=16)  # of the entry as it came: equal means nothing to do
    text_hash = models.BinaryField(max_length=16)  # of title and words: consumers compare it with their own

    guid = models.TextField()
    url = models.TextField()
    title = models.TextField()
    author = models.TextField()
    html = models.TextField()  # made safe
    text = models.TextField()  # the same without markup
    language = models.CharField(max_length=20)
    categories = ArrayField(models.TextField())
    image_url = models.TextField()
    comments_url = models.TextField()
    enclosures = models.JSONField()  # list of {url, media_type, length, duration, title}

    # If the text is that of the posting's own page: the document and its extractor.
    document = models.BinaryField(max_length=32, db_default=b"")
    extractor = models.CharField(max_length=40, db_default="")
    feed_html = models.TextField(db_default="")  # the feed's own markup, made safe

    published_at = models.DateTimeField()  # what lists are ordered by: never in the future of `retrieved_at`
    claimed_at = models.DateTimeField(null=True)  # the publisher's own date, however odd
    utc_offset = models.SmallIntegerField(null=True)  # minutes east of UTC, as the publisher wrote its date
    retrieved_at = models.DateTimeField()  # when its bytes first reached us
    edited_at = models.DateTimeField(null=True)  # when we last saw its words change
    lead = models.TextField(null=True)  # first words without boilerplate; null: those of the text
    fold_key = models.BigIntegerField(db_default=0)  # the same for copies of one article; 0: nothing to compare
    # Of copies: the posting that came first, also on that one itself; null: there are none. No foreign key: that one
    # may be deleted, and the others remain copies of each other.
    first_copy = models.BigIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "identity"], name="posting_identity"),
        ]
        indexes = [
            models.Index(fields=["source", "link_key"], condition=~models.Q(link_key=b""), name="posting_link"),
            models.Index(fields=["source", "-published_at", "-id"], include=["first_copy"], name="posting_of_source"),
            models.Index(fields=["-published_at", "-id"], include=["source", "first_copy"], name="posting_newest"),
            # Arrivals of a source since a time: an index-only scan counts unread postings.
            models.Index(
                fields=["source", "id"], include=["published_at", "retrieved_at", "first_copy"], name="posting_arrival"
            ),
            models.Index(fields=["fold_key", "published_at"], condition=~models.Q(fold_key=0), name="posting_fold"),
            models.Index(fields=["document"], condition=~models.Q(document=b""), name="posting_document"),
            models.Index(
                fields=["first_copy", "id"],
                include=["source", "published_at"],
                condition=models.Q(first_copy__isnull=False),
                name="posting_copies",
            ),
        ]

    def __str__(self) -> str:
        return self.title or self.url or f"posting {self.pk}"

    @property
    def heading(self) -> str:
        """The title, or else the first words."""
        return self.title or first_words(self.lead or self.text)


class Boilerplate(models.Model):
    """What a source repeats in its postings, see `algorithms.boilerplate`."""

    source = models.OneToOneField(Source, on_delete=models.CASCADE, primary_key=True, related_name="boilerplate")
    state = models.BinaryField()  # a `SourceBoilerplate`
    keys = ArrayField(models.BigIntegerField())  # of repeated segments, to find those that several sources share


class Fingerprint(models.Model):
    """The words of a posting of the last days, to find its copies by, see `algorithms.duplicates`."""

    posting = models.OneToOneField(Posting, on_delete=models.CASCADE, primary_key=True, related_name="fingerprint")
    published_at = models.DateTimeField(db_index=True)
    bands = ArrayField(models.BigIntegerField())  # postings that share one are compared
    values = models.BinaryField()  # uint32
    words = models.IntegerField()  # that it was taken of

    class Meta:
        # No fast update: each stored posting searches for its bands, and would read all pending entries.
        indexes = [GinIndex(fields=["bands"], name="fingerprint_bands", fastupdate=False)]


class Edition(models.Model):
    """How a posting read before an edit."""

    posting = models.ForeignKey(Posting, on_delete=models.CASCADE, related_name="editions")
    title = models.TextField()
    html = models.TextField()
    text = models.TextField()
    replaced_at = models.DateTimeField()
