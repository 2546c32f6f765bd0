from django.db import models


class StuckMessage(models.Model):
    """A message of the broker that was delivered again and again, or that no worker can read.

    A row is there while somebody tries, and stays when it was set aside.
    """

    id = models.CharField(max_length=200, primary_key=True)  # the message's own
    task = models.CharField(max_length=200)
    content = models.TextField()
    tries = models.PositiveIntegerField(default=0)  # since it was delivered for the second time
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    set_aside_at = models.DateTimeField(null=True)
    reason = models.CharField(max_length=300, blank=True)

    def __str__(self) -> str:
        return f"{self.task} {self.id}"
