import django.contrib.postgres.fields
from django.db import migrations, models

STORAGE = """
ALTER TABLE summaries_outboxrow SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
"""

# The outbox of summaries. When the text of an article's page replaces what its feed said, the feed's text is kept:
# it is the publisher's own description.
OUTBOX = """
CREATE FUNCTION summaries_note_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO summaries_outboxrow (posting_id) SELECT id FROM added ORDER BY id;
    RETURN NULL;
END $$;
CREATE FUNCTION summaries_note_edited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO summaries_outboxrow (posting_id)
    SELECT now.id FROM edited now JOIN former ON former.id = now.id
    WHERE (former.text_hash, former.language) IS DISTINCT FROM (now.text_hash, now.language);
    INSERT INTO summaries_teaser (posting_id, text)
    SELECT now.id, former.text FROM edited now JOIN former ON former.id = now.id
    WHERE former.extractor = '' AND now.extractor <> '' AND former.text <> '' AND former.text <> now.text
    ON CONFLICT (posting_id) DO UPDATE SET text = excluded.text;
    RETURN NULL;
END $$;
CREATE FUNCTION summaries_note_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO summaries_outboxrow (posting_id) SELECT id FROM deleted;
    RETURN NULL;
END $$;
CREATE TRIGGER summaries_note_added AFTER INSERT ON postings_posting REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION summaries_note_added();
CREATE TRIGGER summaries_note_edited AFTER UPDATE ON postings_posting
    REFERENCING NEW TABLE AS edited OLD TABLE AS former
    FOR EACH STATEMENT EXECUTE FUNCTION summaries_note_edited();
CREATE TRIGGER summaries_note_deleted AFTER DELETE ON postings_posting REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION summaries_note_deleted();
"""

DROP_OUTBOX = "DROP FUNCTION summaries_note_added, summaries_note_edited, summaries_note_deleted CASCADE"


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("postings", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="OutboxRow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("posting_id", models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="Summary",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "posting_id", "percent", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("posting_id", models.BigIntegerField()),
                ("percent", models.SmallIntegerField()),
                ("places", django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=None)),
            ],
        ),
        migrations.CreateModel(
            name="Teaser",
            fields=[
                ("posting_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("text", models.TextField()),
            ],
        ),
        migrations.CreateModel(
            name="Vocabulary",
            fields=[
                ("language", models.CharField(max_length=3, primary_key=True, serialize=False)),
                ("documents", models.IntegerField()),
                ("terms", models.BinaryField()),
                ("counted_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Outline",
            fields=[
                ("posting_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("text_hash", models.BinaryField(max_length=16)),
                ("language", models.CharField(max_length=3)),
                ("words", django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)),
            ],
            options={
                "indexes": [models.Index(fields=["language", "-posting_id"], name="summaries_outline_newest")],
            },
        ),
        migrations.RunSQL(STORAGE, migrations.RunSQL.noop),
        migrations.RunSQL(OUTBOX, DROP_OUTBOX),
    ]
