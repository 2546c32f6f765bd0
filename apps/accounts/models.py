from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _


def are_list_views(value: object) -> None:
    """Refuse what an import may contain."""
    if not isinstance(value, dict) or not all(view in User.View.values for view in value.values()):
        raise ValidationError("not layouts by list")


def default_theme() -> str:
    return str(settings.DEFAULT_THEME)


class User(AbstractUser):
    """A user. Every field that Django's own users do not have is a preference, and exported with the account."""

    class Order(models.TextChoices):
        NEWEST = "newest", _("Newest first")
        OLDEST = "oldest", _("Oldest first")

    class Images(models.TextChoices):
        PROXIED = "proxied", _("Through Wirebeat (private)")
        DIRECT = "direct", _("Directly")
        BLOCKED = "blocked", _("Don't load images")

    class View(models.TextChoices):
        COMPACT = "compact", _("Compact")
        LIST = "list", _("List")
        CARDS = "cards", _("Cards")
        MAGAZINE = "magazine", _("Magazine")

    class Theme(models.TextChoices):
        AUTO = "auto", _("System")
        LIGHT = "light", _("Light")
        DARK = "dark", _("Dark")
        CONTRAST = "contrast", _("High contrast")

    unread_only = models.BooleanField(default=False, help_text=_("Hides articles that you have read."))
    every_copy = models.BooleanField(
        default=False,
        db_default=False,
        help_text=_("Shows an article once for each of your feeds that has it, instead of once."),
    )
    order = models.CharField(max_length=6, choices=Order, default=Order.NEWEST)
    view = models.CharField(max_length=8, choices=View, default=View.LIST)  # layout of lists
    list_views = models.JSONField(default=dict, blank=True, validators=[are_list_views])  # by list, as "folder-3"
    mark_on_scroll = models.BooleanField(
        default=False, help_text=_("Articles that you scroll past are marked as read. Needs JavaScript.")
    )
    images = models.CharField(
        max_length=7,
        choices=Images,
        default=Images.PROXIED,
        help_text=_("If images and media load through Wirebeat, their sites do not learn that you read the article."),
    )
    time_zone = models.CharField(max_length=50, blank=True)  # of the tz database; the portal's own if empty
    theme = models.CharField(max_length=8, choices=Theme, default=default_theme)
    typesetting = models.CharField(max_length=20, blank=True)  # of articles, see algorithms.typesetting
    language = models.CharField(max_length=10, blank=True)  # of the settings' LANGUAGES; the browser's if empty


class AppToken(models.Model):
    """Signs in a program of a user. The secret is not stored."""

    class Scope(models.TextChoices):
        READ = "read", _("Read")
        WRITE = "write", _("Change")

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="app_tokens")
    name = models.CharField(max_length=100)
    scopes = ArrayField(models.CharField(max_length=5, choices=Scope))
    digest = models.CharField(max_length=64, unique=True)  # SHA-256 of the secret
    # SHA-256 of the Fever key (see algorithms.secrets); null for tokens not created for Fever.
    fever_key = models.CharField(max_length=64, unique=True, null=True)
    hint = models.CharField(max_length=10)  # first characters of the secret
    made_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)  # accurate to some minutes

    def __str__(self) -> str:
        return self.name
