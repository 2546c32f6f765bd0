from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.sources import kinds
from apps.sources.algorithms.addresses import hosts_only


class Icon(models.Model):
    """The icon of feeds, stored once for all that have the same one."""

    digest = models.CharField(max_length=32, primary_key=True)  # BLAKE2b of the PNG, in hexadecimal digits
    png = models.BinaryField()

    def __str__(self) -> str:
        return self.digest


class Source(models.Model):
    """A source of news: one row per address, shared by all followers."""

    class State(models.TextChoices):
        ACTIVE = "active", _("Active")
        PAUSED = "paused", _("Paused by an administrator")
        GONE = "gone", _("Gone: ended by its publisher")
        IMPORTED = "imported", _("Not checked: articles that a person imported")

    url = models.CharField(max_length=2_000, unique=True)
    # The paths of items and their fields, for kinds that need them: see formats.recipes.
    recipe = models.JSONField(default=dict, blank=True)
    # The site that an index page belongs to: its postings are the site's. People only ever see the site.
    site = models.ForeignKey("self", on_delete=models.CASCADE, null=True, blank=True, related_name="index_pages")
    kind = models.CharField(max_length=20, default=kinds.DEFAULT)  # a module of `kinds`
    state = models.CharField(max_length=10, choices=State, default=State.ACTIVE)
    title = models.CharField(max_length=1_000, blank=True)
    site_url = models.CharField(max_length=4_000, blank=True)
    description = models.TextField(blank=True)
    language = models.CharField(max_length=20, blank=True)
    category = models.CharField(max_length=100, blank=True)
    image_url = models.CharField(max_length=4_000, blank=True)
    # When its icon is looked for next, and the searches in a row without one.
    icon_due_at = models.DateTimeField(db_default=Now())
    icon_failures = models.PositiveSmallIntegerField(default=0, db_default=0)
    icon = models.ForeignKey(Icon, on_delete=models.SET_NULL, null=True, blank=True, related_name="sources")
    weight = models.FloatField(
        default=1.0,
        help_text=_("1 is normal. At twice the weight, its articles count twice as much when checks are planned."),
    )
    # Factor by which saved searches raise its weight; 1 without any. Written by alerts.
    interest = models.FloatField(default=1.0)
    listed = models.BooleanField(default=False, help_text=_("In the catalogue, with its articles open to everyone."))
    always_retrieved = models.BooleanField(default=False, help_text=_("Checked even while it has no followers."))
    # Speed of the source's clock: 1, except in replays. All waiting times are divided by it.
    clock_rate = models.FloatField(default=1.0)
    # Minimum gap in seconds set by an admin; it may be below the default of politeness.
    min_gap = models.PositiveIntegerField(null=True, blank=True)
    full_text = models.BooleanField(
        default=False, help_text=_("If an item is only an excerpt, its page is fetched once and its text extracted.")
    )
    expiry_days = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text=_(
            "Articles older than this many days are deleted, unless someone has starred or annotated them; 0 keeps them"
            " forever. Leave empty for what is set for the category."
        ),
    )
    stop_regex = models.CharField(
        max_length=500, blank=True, help_text=_("Words that match are never trending words of this feed.")
    )
    added_at = models.DateTimeField(db_default=Now())

    class Meta:
        permissions = [("open_private_articles", "Can open articles of feeds that are not shown to everybody")]
        constraints = [
            models.CheckConstraint(condition=Q(weight__gte=0, weight__lte=1_000), name="source_weight_in_range"),
            models.CheckConstraint(condition=Q(interest__gte=0, interest__lte=1_000), name="source_interest_in_range"),
            models.CheckConstraint(condition=Q(clock_rate__gt=0), name="source_clock_rate_positive"),
            models.CheckConstraint(condition=Q(url__startswith="http"), name="source_url_is_http"),
            models.CheckConstraint(
                condition=Q(kind=kinds.INDEX, site__isnull=False) | (~Q(kind=kinds.INDEX) & Q(site=None)),
                name="source_index_has_site",
            ),
        ]
        indexes = [
            models.Index(fields=["category", "title"], condition=Q(listed=True), name="source_catalogue"),
            models.Index(fields=["icon_due_at"], condition=Q(site=None), name="source_icon_due"),
        ]

    def __str__(self) -> str:
        return self.title or (self.url if self.listed else hosts_only(self.url))

    def get_kind_display(self) -> str:
        return gettext(kinds.kind_of(self.kind).label)


class Retention(models.Model):
    """How long articles of a category are kept; the empty category stands for all feeds without a rule."""

    category = models.CharField(max_length=100, unique=True, blank=True)
    days = models.PositiveIntegerField()  # 0: forever

    def __str__(self) -> str:
        return f"{self.category or 'everything else'}: {self.days} days"


class FormerAddress(models.Model):
    """The address of a source that was merged into another one, which the address now stands for."""

    url = models.CharField(max_length=2_000, unique=True)
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="former_addresses")

    def __str__(self) -> str:
        return self.url


class AuditEntry(models.Model):
    """A decision about a source or the portal. A trigger forbids changes of rows.

    There is no foreign key to the source, which may be deleted; a deleted account is set to null.
    """

    class What(models.TextChoices):
        WEIGHT = "weight", _("Weight")
        STATE = "state", _("State")
        LISTED = "listed", _("Visible to everyone")
        ALWAYS = "always_retrieved", _("Always checked")
        CATEGORY = "category", _("Category")
        LANGUAGE = "language", _("Language")
        URL = "url", _("Address")
        RETENTION = "expiry_days", _("Retention")
        MERGED = "merged", _("Merged")
        DELETED = "deleted", _("Deleted")
        PLAN = "plan", _("Plan")
        PERSON = "person", _("Account")
        OPENED = "opened", _("Private article opened")

    at = models.DateTimeField(db_default=Now())
    actor = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+", db_index=False)
    place = models.CharField(max_length=60)  # page or command
    why = models.CharField(max_length=300, blank=True)
    batch = models.UUIDField(null=True)  # of one decision on many sources
    source_id = models.BigIntegerField(null=True)
    name = models.CharField(max_length=300, blank=True)  # of the source or account at that time
    what = models.CharField(max_length=20, choices=What)
    before = models.CharField(max_length=300, blank=True)
    after = models.CharField(max_length=300, blank=True)

    class Meta:
        verbose_name_plural = "audit entries"
        indexes = [
            models.Index(fields=["source_id", "-id"], name="audit_of_source"),
            models.Index(fields=["what", "-id"], name="audit_of_kind"),
            models.Index(fields=["actor", "-id"], name="audit_of_actor"),
        ]

    def __str__(self) -> str:
        return f"{self.what} of {self.name}: {self.before} -> {self.after}"
