from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("postings", "0002_utc_offset"),
        ("sources", "0003_kinds"),
    ]

    operations = [
        migrations.AddField(
            model_name="posting",
            name="document",
            field=models.BinaryField(db_default=b"", max_length=32),
        ),
        migrations.AddField(
            model_name="posting",
            name="extractor",
            field=models.CharField(db_default="", max_length=40),
        ),
    ]
