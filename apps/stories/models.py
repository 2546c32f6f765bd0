"""Stories: postings of one event across sources, and the state needed to assign the next posting.

Pages read stories, members and redirects. Centroids, word counts and the vectors of members are the state of
`algorithms.grouping`, pruned to what can still matter and reloaded after a restart.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.postings.models import Posting
from apps.sources.models import Source


class Head(models.Model):
    """The single row with the state of grouping. Times are hours since 1970, of postings."""

    turn = models.UUIDField()  # of the last batch: a worker whose memory has another one reloads everything
    next_story = models.BigIntegerField(default=1)
    clock = models.FloatField(default=-1e9)
    merged_at = models.FloatField(default=-1e9)
    touched = ArrayField(models.BigIntegerField(), default=list)  # stories that got a posting since `merged_at`


class OutboxRow(models.Model):
    """A posting that was changed since grouping read it. Written by triggers, deleted by `actions.consume`.

    There may be several of a posting. They are consumed in the order of publication, since stories depend on it.
    """

    posting_id = models.BigIntegerField()
    published_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["published_at", "posting_id", "id"], name="stories_change_turn")]


class Story(models.Model):
    """An event. When stories are merged, the oldest id stays and the others redirect to it."""

    id = models.BigIntegerField(primary_key=True)
    lead_id = models.BigIntegerField()  # the posting that represents it
    language = models.CharField(max_length=3)
    reports = models.IntegerField()  # postings without copies
    copies = models.IntegerField()
    sources = models.IntegerField()
    first_at = models.DateTimeField()  # publication
    latest_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["-latest_at"], condition=models.Q(sources__gt=1), name="stories_story_latest"),
        ]


class Redirect(models.Model):
    """The id of a story that was merged into another one."""

    former_id = models.BigIntegerField(primary_key=True)
    story_id = models.BigIntegerField(db_index=True)


class Member(models.Model):
    """A posting in a story. Once this is inactive, the fingerprint and most of the vector are deleted."""

    posting_id = models.BigIntegerField(primary_key=True)
    story_id = models.BigIntegerField()
    source_id = models.BigIntegerField()
    published_at = models.DateTimeField()
    text_hash = models.BinaryField(max_length=16)  # of the posting when it was grouped
    copy_of = models.BigIntegerField(null=True)  # the original posting
    fingerprint = models.BinaryField()  # uint32; like the next two empty for copies
    terms = models.BinaryField()  # int32; the heaviest first
    weights = models.BinaryField()  # float32

    class Meta:
        indexes = [
            models.Index(fields=["story_id", "published_at"], name="stories_member_story"),
            models.Index(fields=["copy_of"], condition=models.Q(copy_of__isnull=False), name="stories_member_copy"),
            models.Index(fields=["source_id", "published_at"], name="stories_member_source"),
        ]


class Centroid(models.Model):
    """The vector of an active story."""

    story_id = models.BigIntegerField(primary_key=True)
    size = models.IntegerField()
    latest = models.FloatField()  # hours since 1970
    centre = models.FloatField()  # likewise
    terms = models.BinaryField()  # int32
    weights = models.BinaryField()  # float32


class WordCount(models.Model):
    """Numbers of postings with each term in a block of six hours, per batch; batches are added up periodically."""

    block = models.IntegerField()  # six hours since 1970
    documents = models.JSONField()  # by language
    terms = models.BinaryField()  # int32
    counts = models.BinaryField()  # int32

    class Meta:
        indexes = [models.Index(fields=["block"], name="stories_wordcount_block")]


class Authority(models.Model):
    """The authority of a source in stories, from 0 to 1, and its percentiles. Computed every night."""

    source = models.OneToOneField(Source, on_delete=models.CASCADE, primary_key=True, related_name="authority")
    value = models.FloatField()
    importance = models.FloatField()  # how many others report the same
    earliness = models.FloatField()  # how early it is in its stories
    originality = models.FloatField()  # share of its reports in stories
    independence = models.FloatField()  # share of its reports that are no copies
    stars = models.FloatField()  # share of read postings that are starred
    reports = models.IntegerField()  # from which it was computed
    computed_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "authorities"


class Reaction(models.Model):
    """What a user did with a posting other than marking it; their taste is learnt from it."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="reactions", db_index=False)
    posting = models.ForeignKey(Posting, on_delete=models.CASCADE, related_name="reactions")
    opened_at = models.DateTimeField(null=True)
    hidden_at = models.DateTimeField(null=True)
    learnt = models.FloatField(default=0.0)  # the weight that was learnt
    stale = models.BooleanField(default=False)  # whether its weight may have changed
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "posting"], name="reaction_once")]
        indexes = [models.Index(fields=["user"], condition=models.Q(stale=True), name="reaction_stale")]


class Taste(models.Model):
    """A user's taste; see `algorithms.taste`."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, primary_key=True, related_name="taste")
    is_on = models.BooleanField(default=True)  # whether it is learnt and used
    weight = models.FloatField(default=0.0)
    liked = models.BinaryField(default=b"")  # int32 terms, then as many float32; the next two likewise
    disliked = models.BinaryField(default=b"")
    centroid = models.BinaryField(default=b"")
    learnt_at = models.DateTimeField(null=True)


class Section(models.Model):
    """A part of the front page set up by an admin: the results of a query, in its own order."""

    class Order(models.TextChoices):
        NEWEST = "newest", _("Newest first")
        RELEVANCE = "relevance", _("Best & recent")
        STORIES = "stories", _("Stories, by rank")

    slug = models.SlugField(max_length=50, unique=True)  # in its address
    title = models.CharField(max_length=100)
    query = models.CharField(max_length=1_000, blank=True)
    category = models.CharField(max_length=100, blank=True)  # like the next one, narrows the query
    language = models.CharField(max_length=20, blank=True)
    order = models.CharField(max_length=9, choices=Order, default=Order.NEWEST)
    page_size = models.PositiveSmallIntegerField(default=30)  # of its own page
    front_size = models.PositiveSmallIntegerField(default=6)  # on the front page; 0: only a link there
    place = models.IntegerField(default=0)  # among all sections, from 1
    is_on = models.BooleanField(default=True)
    revision = models.PositiveIntegerField(default=1)  # incremented by each change, which invalidates cached contents
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(page_size__range=(5, 100)), name="section_page_size"),
            models.CheckConstraint(condition=models.Q(front_size__lte=20), name="section_front_size"),
        ]

    def __str__(self) -> str:
        return self.title
