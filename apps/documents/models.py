from django.db import models


class RawDocument(models.Model):
    """A raw document, stored until it expires. Its bytes are on the storage; `documents.actions` writes both.

    It is identified by its content: the same bytes from two addresses are one row and one file.
    """

    hash = models.BinaryField(primary_key=True, max_length=32)  # see algorithms.packing
    size = models.PositiveIntegerField()  # bytes
    stored_size = models.PositiveIntegerField()  # bytes of the file
    content_type = models.CharField(max_length=200)  # of the first response
    url = models.TextField()  # where it was first found
    stored_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)
    damaged_at = models.DateTimeField(null=True)  # when its file was last found not to hold it

    def __str__(self) -> str:
        return f"document {bytes(self.hash).hex()[:12]} of {self.url}"
