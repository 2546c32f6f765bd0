from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("postings", "0004_bands_at_once")]

    operations = [
        AddIndexConcurrently(
            "posting",
            models.Index(fields=["document"], condition=~models.Q(document=b""), name="posting_document"),
        ),
    ]
