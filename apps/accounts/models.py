from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _


class User(AbstractUser):
    """A person who signs in. Followed sources and what was read hang on it in `following`."""

    class Order(models.TextChoices):
        NEWEST = "newest", _("Newest first")
        OLDEST = "oldest", _("Oldest first")

    class Images(models.TextChoices):
        PROXIED = "proxied", _("Fetched by Wirebeat")
        DIRECT = "direct", _("Fetched by your browser")
        BLOCKED = "blocked", _("Links in their places")

    class Theme(models.TextChoices):
        AUTO = "auto", _("As the system")
        LIGHT = "light", _("Light")
        DARK = "dark", _("Dark")
        CONTRAST = "contrast", _("High contrast")

    unread_only = models.BooleanField(default=False, help_text=_("Lists leave out what has been read."))
    order = models.CharField(max_length=6, choices=Order, default=Order.NEWEST)
    images = models.CharField(
        max_length=7,
        choices=Images,
        default=Images.PROXIED,
        help_text=_("Where Wirebeat fetches the pictures of postings, their sites do not learn that you read."),
    )
    time_zone = models.CharField(max_length=50, blank=True)  # of the tz database; the portal's own if empty
    theme = models.CharField(max_length=8, choices=Theme, default=Theme.AUTO)
    language = models.CharField(max_length=10, blank=True)  # of the settings' LANGUAGES; the browser's if empty
