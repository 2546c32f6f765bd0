from django.contrib.postgres.fields import ArrayField
from django.db import models

from apps.accounts.models import User
from apps.sources.models import Source


class Newsletter(models.Model):
    """A user's mail address for one newsletter, whose mails are postings of a source."""

    source = models.OneToOneField(Source, on_delete=models.CASCADE, primary_key=True, related_name="newsletter")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="newsletters")
    token = models.CharField(max_length=20, unique=True)  # the address before the @
    # Registrable domains whose mails are shown; those of others wait for the person.
    domains = ArrayField(models.CharField(max_length=255), default=list)
    unsubscribe = models.CharField(max_length=1_000, blank=True)  # address in the latest mail, of the web or mailto:
    made_at = models.DateTimeField()


class HeldLetter(models.Model):
    """A mail from a sender that the person has not confirmed."""

    newsletter = models.ForeignKey(Newsletter, on_delete=models.CASCADE, related_name="held", db_index=False)
    identity = models.CharField(max_length=600)
    sender = models.CharField(max_length=320)
    title = models.CharField(max_length=1_000)
    content = models.BinaryField()
    received_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["newsletter", "identity"], name="held_letter_once")]
