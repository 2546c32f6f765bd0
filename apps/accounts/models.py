from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """A person who signs in. Followed sources and what was read hang on it in `following`."""

    class Order(models.TextChoices):
        NEWEST = "newest", "Newest first"
        OLDEST = "oldest", "Oldest first"

    unread_only = models.BooleanField(default=False, help_text="Lists leave out what has been read.")
    order = models.CharField(max_length=6, choices=Order, default=Order.NEWEST)
