from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower, Now
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.postings.models import Posting
from apps.sources.models import Source

UNSORTED = 1_000_000  # position of what was never sorted manually: last, by name


class Folder(models.Model):
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="folders")
    parent = models.ForeignKey("self", on_delete=models.CASCADE, null=True, blank=True, related_name="children")
    name = models.CharField(max_length=100)
    position = models.IntegerField(default=UNSORTED, db_default=UNSORTED)  # among its siblings

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "parent", "name"], nulls_distinct=False, name="folder_name_unique_in_parent"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class FollowedList(models.Model):
    """An OPML list on the web that a user keeps their follows in step with."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="followed_lists")
    url = models.CharField(max_length=2_000)
    due_at = models.DateTimeField(db_index=True)  # next check
    problem = models.CharField(max_length=300, blank=True)  # of the last check

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "url"], name="followed_list_once")]

    def __str__(self) -> str:
        return self.url


class Follow(models.Model):
    """A user follows a source, in any number of folders.

    All queries must decide by the same rule whether a posting is unread:

    1. By the user's mark (`Mark.read`), unless it is null.
    2. Otherwise it is unread if the user follows its source, it was published at `unread_from` or later, and its id is
       above `read_through`.
    3. But not if a copy of it in a followed feed was read: by a mark, or because its id is not above `read_through`
       while 2 holds otherwise. So copies that arrive later are read, too, and undoing one mark restores all.

    Postings of a source get ascending ids in the order in which they become visible, because they are stored under one
    lock per source. So marking a list read moves `read_through` once per source, however many postings there are, and
    later arrivals are unread whatever their date.
    """

    class View(models.TextChoices):
        DEFAULT = "", _("As in preferences")
        COMPACT = "compact", _("Compact")
        LIST = "list", _("List")
        CARDS = "cards", _("Cards")
        MAGAZINE = "magazine", _("Magazine")

    class FullText(models.TextChoices):
        DEFAULT = "", _("Portal default")
        PAGE = "page", _("Full text from the website if the feed has only excerpts")
        FEED = "feed", _("Text of the feed")

    class Images(models.TextChoices):
        DEFAULT = "", _("As in preferences")
        PROXIED = "proxied", _("Through Wirebeat (private)")
        DIRECT = "direct", _("Directly")
        BLOCKED = "blocked", _("Don't load images")

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="follows")
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="follows")
    folders = models.ManyToManyField(Folder, related_name="follows", blank=True)
    title = models.CharField(max_length=1_000, blank=True)  # the user's own
    # Among all follows of the user, in all folders alike.
    position = models.IntegerField(default=UNSORTED, db_default=UNSORTED)
    view = models.CharField(max_length=8, choices=View, default=View.DEFAULT, db_default="", blank=True)
    full_text = models.CharField(max_length=4, choices=FullText, default=FullText.DEFAULT, db_default="", blank=True)
    images = models.CharField(max_length=7, choices=Images, default=Images.DEFAULT, db_default="", blank=True)
    muted = models.BooleanField(default=False, db_default=False)  # shown only in its own list
    # Older postings count as read unless marked otherwise.
    unread_from = models.DateTimeField()
    # Postings up to this id count as read unless marked otherwise. No foreign key: the posting may be deleted.
    read_through = models.BigIntegerField(default=0, db_default=0)
    followed_at = models.DateTimeField(db_default=Now())
    # By which it was followed, and without which it ends; null: the user follows it.
    from_list = models.ForeignKey(FollowedList, on_delete=models.SET_NULL, null=True, related_name="follows")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "source"], name="follow_once")]


class Mark(models.Model):
    """A user's mark on a posting. Without a row: not starred, and read as `Follow` defines."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="marks", db_index=False)
    posting = models.ForeignKey(Posting, on_delete=models.CASCADE, related_name="marks")
    read = models.BooleanField(null=True)  # null: as `Follow` defines
    starred_at = models.DateTimeField(null=True)
    changed_at = models.DateTimeField()
    # The `MarkedAll` that set `read`; null where it was set for this posting alone.
    marked_all = models.BigIntegerField(null=True)
    # Offline changes arrive late, and must not overwrite later changes of the same field. Null: unknown, such as for
    # postings marked read with a list.
    read_changed_at = models.DateTimeField(null=True)
    star_changed_at = models.DateTimeField(null=True)
    hidden = models.BooleanField(default=False, db_default=False)  # by a rule: not in lists, and read unless changed

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "posting"], name="mark_once")]
        indexes = [
            models.Index(fields=["user", "-starred_at"], condition=Q(starred_at__isnull=False), name="mark_starred"),
            models.Index(fields=["user", "posting"], condition=Q(read=False), name="mark_unread"),
            models.Index(fields=["user", "marked_all"], condition=Q(marked_all__isnull=False), name="mark_of_all"),
            models.Index(fields=["user", "posting"], condition=Q(hidden=True), name="mark_hidden"),
        ]


class MarkedAll(models.Model):
    """A list that a user marked read; kept for a day to undo it. Marks made by it refer to it."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    marked_at = models.DateTimeField()
    # Parallel arrays: follows, and the values between which their `read_through` moved.
    follows = ArrayField(models.BigIntegerField(), default=list)
    moved_from = ArrayField(models.BigIntegerField(), default=list)
    moved_to = ArrayField(models.BigIntegerField(), default=list)

    class Meta:
        indexes = [models.Index(fields=["marked_at"], name="marked_all_oldest")]


class StateChange(models.Model):
    """Something by which postings of a source may have become read or unread, or copies of others.

    Triggers add a row in the transaction of each change, and nothing waits for another: the sum of the amounts is the
    version of the states. Only `actions.counting` joins rows, without changing a sum.
    """

    reader = models.BigIntegerField()  # the user's id; 0: all users
    source = models.BigIntegerField()  # its id; 0: all sources
    amount = models.IntegerField()

    class Meta:
        indexes = [models.Index(fields=["reader", "source"], include=["amount"], name="state_version")]


class UnreadCount(models.Model):
    """What is unread of a source up to a posting, as long as the version of the states is the same."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    source = models.BigIntegerField()
    version = models.BigIntegerField()
    through = models.BigIntegerField()  # the last posting that is counted
    single = models.IntegerField()  # postings without copies
    copied = ArrayField(models.BigIntegerField())  # the first copies of the others

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "source"], name="unread_count_once")]


class Tag(models.Model):
    """A user's label for postings."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tags", db_index=False)
    name = models.CharField(max_length=50)
    postings = models.ManyToManyField(Posting, through="Tagging", related_name="tags")

    class Meta:
        constraints = [models.UniqueConstraint("user", Lower("name"), name="tag_once")]

    def __str__(self) -> str:
        return self.name


class Tagging(models.Model):
    tag = models.ForeignKey(Tag, on_delete=models.CASCADE, related_name="taggings", db_index=False)
    posting = models.ForeignKey(Posting, on_delete=models.CASCADE, related_name="taggings")
    tagged_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tag", "posting"], name="tagging_once")]


class Note(models.Model):
    """A user's note on a posting."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notes", db_index=False)
    posting = models.ForeignKey(Posting, on_delete=models.CASCADE, related_name="notes")
    text = models.TextField()
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "posting"], name="note_once")]
        indexes = [models.Index(fields=["user", "-changed_at"], name="note_latest")]


class Highlight(models.Model):
    """A passage of a posting that a user highlighted, with or without a note. See `algorithms.passages`."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="highlights", db_index=False)
    posting = models.ForeignKey(Posting, on_delete=models.CASCADE, related_name="highlights")
    quote = models.TextField()
    prefix = models.CharField(max_length=100)
    suffix = models.CharField(max_length=100)
    note = models.TextField(blank=True)
    made_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["user", "posting"], name="highlight_of_posting")]


class Reading(models.Model):
    """An entry of a user's history: the last time a posting was read. Lists marked read add none."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="readings", db_index=False)
    posting = models.ForeignKey(Posting, on_delete=models.CASCADE, related_name="readings")
    read_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "posting"], name="reading_once")]
        indexes = [models.Index(fields=["user", "-read_at", "-posting"], name="reading_latest")]


class Playback(models.Model):
    """A user's position in a recording of a posting. Deleted at its end."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="playbacks", db_index=False)
    posting = models.ForeignKey(Posting, on_delete=models.CASCADE, related_name="playbacks")
    address = models.TextField()  # of the recording
    seconds = models.FloatField()  # from its beginning
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "posting"], name="playback_once")]
        indexes = [models.Index(fields=["user", "-changed_at"], name="playback_latest")]


class Share(models.Model):
    """A posting shared by a secret address."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="shares", db_index=False)
    posting = models.ForeignKey(Posting, on_delete=models.CASCADE, related_name="shares")
    secret = models.CharField(max_length=43, unique=True)
    shared_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "posting"], name="share_once")]


class OfflineChange(models.Model):
    """A change made offline and its outcome, so that it is not applied again when repeated."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="offline_changes", db_index=False)
    change_id = models.UUIDField()  # by the device
    outcome = models.CharField(max_length=10)  # see actions.marks.Outcome
    received_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "change_id"], name="offline_change_once")]
        indexes = [models.Index(fields=["user", "received_at"], name="offline_change_age")]
