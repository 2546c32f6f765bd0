"""Stories: postings of one event across sources, and what is remembered to put the next posting into the right one.

Stories, members and redirects are for pages. Centroids, word counts and the vectors of members are the memory of
`algorithms.grouping`: only as much of it as can still matter, and all of it can be read again after a restart.
"""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.postings.models import Posting
from apps.sources.models import Source


class Head(models.Model):
    """The one row that says how far grouping has come. Times are hours since 1970, of postings."""

    turn = models.UUIDField()  # of the pull that wrote last: whoever remembers another one reads everything again
    next_story = models.BigIntegerField(default=1)
    clock = models.FloatField(default=-1e9)
    merged_at = models.FloatField(default=-1e9)
    touched = ArrayField(models.BigIntegerField(), default=list)  # stories that got a posting since then


class OutboxRow(models.Model):
    """A posting that may not be as grouping has seen it. Written by triggers, taken out by `actions.pull`.

    There may be several of a posting. They are worked on in the order of publication, since stories depend on it.
    """

    posting_id = models.BigIntegerField()
    published_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["published_at", "posting_id", "id"], name="stories_change_turn")]


class Story(models.Model):
    """An event. Its id stays when others turn out to be the same: theirs then lead to it."""

    id = models.BigIntegerField(primary_key=True)
    lead_id = models.BigIntegerField()  # the posting that stands for it
    language = models.CharField(max_length=3)
    reports = models.IntegerField()  # postings, copies left out
    copies = models.IntegerField()
    sources = models.IntegerField()
    first_at = models.DateTimeField()  # publication
    latest_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["-latest_at"], condition=models.Q(sources__gt=1), name="stories_story_latest"),
        ]


class Redirect(models.Model):
    """The id of a story that became a part of another one."""

    former_id = models.BigIntegerField(primary_key=True)
    story_id = models.BigIntegerField(db_index=True)


class Member(models.Model):
    """A posting in a story. What is told by its words is kept for as long as its story lasts."""

    posting_id = models.BigIntegerField(primary_key=True)
    story_id = models.BigIntegerField()
    source_id = models.BigIntegerField()
    published_at = models.DateTimeField()
    text_hash = models.BinaryField(max_length=16)  # the posting's, when it was read
    copy_of = models.BigIntegerField(null=True)  # the posting that it repeats
    fingerprint = models.BinaryField()  # uint32; like the next two empty for copies and when the story has ended
    terms = models.BinaryField()  # int32
    weights = models.BinaryField()  # float32

    class Meta:
        indexes = [
            models.Index(fields=["story_id", "published_at"], name="stories_member_story"),
            models.Index(fields=["copy_of"], condition=models.Q(copy_of__isnull=False), name="stories_member_copy"),
            models.Index(fields=["source_id", "published_at"], name="stories_member_source"),
        ]


class Centroid(models.Model):
    """What an active story is compared by."""

    story_id = models.BigIntegerField(primary_key=True)
    size = models.IntegerField()
    latest = models.FloatField()  # hours since 1970
    centre = models.FloatField()  # likewise
    terms = models.BinaryField()  # int32
    weights = models.BinaryField()  # float32


class WordCount(models.Model):
    """Postings with each term, of six hours and one pull; those of one block are added up now and then."""

    block = models.IntegerField()  # six hours since 1970
    documents = models.JSONField()  # by language
    terms = models.BinaryField()  # int32
    counts = models.BinaryField()  # int32

    class Meta:
        indexes = [models.Index(fields=["block"], name="stories_wordcount_block")]


class Authority(models.Model):
    """What a source is worth to stories, from 0 to 1, and the percentiles that make it up. Anew every night."""

    source = models.OneToOneField(Source, on_delete=models.CASCADE, primary_key=True, related_name="authority")
    value = models.FloatField()
    importance = models.FloatField()  # how much others report the same
    earliness = models.FloatField()  # how early it is in its stories
    originality = models.FloatField()  # how many of its reports are of events that others report, too
    independence = models.FloatField()  # how few of its reports are copies
    stars = models.FloatField()  # how many of those that are read are starred
    reports = models.IntegerField()  # that it was reckoned from
    computed_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "authorities"


class Reaction(models.Model):
    """What a person did with a posting, beyond marking it: what is learnt of their taste comes from here."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="reactions", db_index=False
    )
    posting = models.ForeignKey(Posting, on_delete=models.CASCADE, related_name="reactions")
    opened_at = models.DateTimeField(null=True)
    hidden_at = models.DateTimeField(null=True)
    learnt = models.FloatField(default=0.0)  # the weight with which it has been learnt
    stale = models.BooleanField(default=False)  # whether it may have another weight by now
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "posting"], name="reaction_once")]
        indexes = [models.Index(fields=["user"], condition=models.Q(stale=True), name="reaction_stale")]


class Taste(models.Model):
    """What is known of what a person likes to read. See `algorithms.taste`."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="taste"
    )
    is_on = models.BooleanField(default=True)  # whether it is learnt from, and used
    weight = models.FloatField(default=0.0)
    liked = models.BinaryField(default=b"")  # int32 terms, then as many float32; the next two likewise
    disliked = models.BinaryField(default=b"")
    centroid = models.BinaryField(default=b"")
    learnt_at = models.DateTimeField(null=True)


class Section(models.Model):
    """A part of the front page that an admin names: what a query finds, in an order of its own."""

    class Order(models.TextChoices):
        NEWEST = "newest", _("Newest first")
        RELEVANCE = "relevance", _("Best & recent")
        STORIES = "stories", _("Stories, by rank")

    slug = models.SlugField(max_length=50, unique=True)  # in its address
    title = models.CharField(max_length=100)  # in the portal's own language
    titles = models.JSONField(default=dict, blank=True)  # in other languages of the interface, by their codes
    query = models.CharField(max_length=1_000, blank=True)
    category = models.CharField(max_length=100, blank=True)  # with the next one, what the query is narrowed to
    language = models.CharField(max_length=20, blank=True)
    order = models.CharField(max_length=9, choices=Order, default=Order.NEWEST)
    page_size = models.PositiveSmallIntegerField(default=30)  # of its own page
    front_size = models.PositiveSmallIntegerField(default=6)  # on the front page; 0: only a link there
    place = models.IntegerField(default=0)  # among all sections, from 1
    is_on = models.BooleanField(default=True)
    revision = models.PositiveIntegerField(default=1)  # raised by each change: what was kept of it counts no more
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(page_size__range=(5, 100)), name="section_page_size"),
            models.CheckConstraint(condition=models.Q(front_size__lte=20), name="section_front_size"),
        ]

    def __str__(self) -> str:
        return self.title
