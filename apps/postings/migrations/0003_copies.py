from django.db import migrations, models

# As `duplicates.first_copies` decides it, but for what returns again and again.
_FIND = """
UPDATE postings_posting posting SET first_copy = known.first FROM (
    SELECT id, published_at, count(*) OVER (PARTITION BY fold_key) AS amount,
        first_value(id) OVER by_arrival AS first, first_value(published_at) OVER by_arrival AS first_at
    FROM postings_posting WHERE fold_key <> 0 WINDOW by_arrival AS (PARTITION BY fold_key ORDER BY id)
) known
WHERE posting.id = known.id AND amount > 1
    AND known.published_at BETWEEN first_at - interval '48 hours' AND first_at + interval '48 hours'
"""


class Migration(migrations.Migration):
    dependencies = [("postings", "0002_boilerplate_and_duplicates")]

    operations = [
        migrations.AddField("posting", "first_copy", models.BigIntegerField(null=True)),
        migrations.RunSQL(_FIND, migrations.RunSQL.noop),
        # Postgres does not change a table with pending trigger events.
        migrations.RunSQL("SET CONSTRAINTS ALL IMMEDIATE", migrations.RunSQL.noop),
        migrations.RemoveIndex("posting", "posting_of_source"),
        migrations.RemoveIndex("posting", "posting_newest"),
        migrations.RemoveIndex("posting", "posting_arrival"),
        migrations.RemoveIndex("posting", "posting_fold"),
        migrations.AddIndex(
            "posting",
            models.Index(
                fields=["source", "-published_at", "-id"], include=["first_copy"], name="posting_of_source"
            ),
        ),
        migrations.AddIndex(
            "posting",
            models.Index(fields=["-published_at", "-id"], include=["source", "first_copy"], name="posting_newest"),
        ),
        migrations.AddIndex(
            "posting",
            models.Index(
                fields=["source", "id"], include=["published_at", "retrieved_at", "first_copy"], name="posting_arrival"
            ),
        ),
        migrations.AddIndex(
            "posting",
            models.Index(fields=["fold_key", "published_at"], condition=~models.Q(fold_key=0), name="posting_fold"),
        ),
        migrations.AddIndex(
            "posting",
            models.Index(
                fields=["first_copy", "id"],
                include=["source", "published_at"],
                condition=models.Q(first_copy__isnull=False),
                name="posting_copies",
            ),
        ),
    ]
