import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

# Counts are index-only scans, which need the visibility map: vacuum soon after rows were added.
STORAGE = "ALTER TABLE postings_posting SET (autovacuum_vacuum_insert_scale_factor = 0.01)"


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("sources", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Posting",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("identity", models.BinaryField(max_length=16)),
                ("link_key", models.BinaryField(max_length=16)),
                ("content_hash", models.BinaryField(max_length=16)),
                ("text_hash", models.BinaryField(max_length=16)),
                ("guid", models.TextField()),
                ("url", models.TextField()),
                ("title", models.TextField()),
                ("author", models.TextField()),
                ("html", models.TextField()),
                ("text", models.TextField()),
                ("language", models.CharField(max_length=20)),
                ("categories", django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)),
                ("image_url", models.TextField()),
                ("comments_url", models.TextField()),
                ("enclosures", models.JSONField()),
                ("document", models.BinaryField(db_default=b"", max_length=32)),
                ("extractor", models.CharField(db_default="", max_length=40)),
                ("feed_html", models.TextField(db_default="")),
                ("published_at", models.DateTimeField()),
                ("claimed_at", models.DateTimeField(null=True)),
                ("utc_offset", models.SmallIntegerField(null=True)),
                ("retrieved_at", models.DateTimeField()),
                ("edited_at", models.DateTimeField(null=True)),
                (
                    "source",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="postings",
                        to="sources.source",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("link_key", b""), _negated=True),
                        fields=["source", "link_key"],
                        name="posting_link",
                    ),
                    models.Index(fields=["source", "-published_at", "-id"], name="posting_of_source"),
                    models.Index(fields=["-published_at", "-id"], include=("source",), name="posting_newest"),
                    models.Index(
                        fields=["source", "id"], include=("published_at", "retrieved_at"), name="posting_arrival"
                    ),
                ],
                "constraints": [models.UniqueConstraint(fields=("source", "identity"), name="posting_identity")],
            },
        ),
        migrations.CreateModel(
            name="Edition",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("title", models.TextField()),
                ("html", models.TextField()),
                ("text", models.TextField()),
                ("replaced_at", models.DateTimeField()),
                (
                    "posting",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="editions", to="postings.posting"
                    ),
                ),
            ],
        ),
        migrations.RunSQL(STORAGE, migrations.RunSQL.noop),
    ]
