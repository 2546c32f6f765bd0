from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _


class User(AbstractUser):
    """A person who signs in. Followed sources and what was read hang on it in `following`."""

    class Order(models.TextChoices):
        NEWEST = "newest", "Newest first"
        OLDEST = "oldest", "Oldest first"

    class Images(models.TextChoices):
        PROXIED = "proxied", "Fetched by Wirebeat"
        DIRECT = "direct", "Fetched by your browser"
        BLOCKED = "blocked", "Links in their places"

    class View(models.TextChoices):
        LIST = "list", _("List")
        CARDS = "cards", _("Cards")
        MAGAZINE = "magazine", _("Magazine")

    unread_only = models.BooleanField(default=False, help_text="Lists leave out what has been read.")
    order = models.CharField(max_length=6, choices=Order, default=Order.NEWEST)
    view = models.CharField(max_length=8, choices=View, default=View.LIST)  # how lists are laid out
    mark_on_scroll = models.BooleanField(
        default=False, help_text=_("Postings that you scroll past are marked read. Needs JavaScript.")
    )
    images = models.CharField(
        max_length=7,
        choices=Images,
        default=Images.PROXIED,
        help_text="Where Wirebeat fetches the pictures of postings, their sites do not learn that you read.",
    )
    time_zone = models.CharField(max_length=50, blank=True)  # of the tz database; the portal's own if empty
