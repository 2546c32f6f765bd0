import django.contrib.postgres.fields
from django.db import migrations, models

# The arrays of slices are searched by the database, which would have to decompress them each time.
STORAGE = """
ALTER TABLE trending_slice ALTER terms SET STORAGE EXTERNAL, ALTER counts SET STORAGE EXTERNAL;
ALTER TABLE trending_outboxrow SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
"""

# The outbox of trending: every posting that may count differently, also because its source was edited.
OUTBOX = """
CREATE FUNCTION trending_note_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO trending_outboxrow (posting_id) SELECT id FROM added ORDER BY id;
    RETURN NULL;
END $$;
CREATE FUNCTION trending_note_edited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO trending_outboxrow (posting_id)
    SELECT now.id FROM edited now JOIN former ON former.id = now.id
    WHERE (former.text_hash, former.source_id, former.published_at, former.language, former.title)
        IS DISTINCT FROM (now.text_hash, now.source_id, now.published_at, now.language, now.title);
    RETURN NULL;
END $$;
CREATE FUNCTION trending_note_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO trending_outboxrow (posting_id) SELECT id FROM deleted;
    RETURN NULL;
END $$;
CREATE FUNCTION trending_note_source() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO trending_outboxrow (posting_id) SELECT id FROM postings_posting WHERE source_id = NEW.id ORDER BY id;
    RETURN NULL;
END $$;
CREATE TRIGGER trending_note_added AFTER INSERT ON postings_posting REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION trending_note_added();
CREATE TRIGGER trending_note_edited AFTER UPDATE ON postings_posting
    REFERENCING NEW TABLE AS edited OLD TABLE AS former
    FOR EACH STATEMENT EXECUTE FUNCTION trending_note_edited();
CREATE TRIGGER trending_note_deleted AFTER DELETE ON postings_posting REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION trending_note_deleted();
CREATE TRIGGER trending_note_source AFTER UPDATE ON sources_source FOR EACH ROW
    WHEN ((OLD.listed, OLD.category, OLD.language, OLD.title, OLD.stop_regex)
        IS DISTINCT FROM (NEW.listed, NEW.category, NEW.language, NEW.title, NEW.stop_regex))
    EXECUTE FUNCTION trending_note_source();
"""

DROP_OUTBOX = (
    "DROP FUNCTION trending_note_added, trending_note_edited, trending_note_deleted, trending_note_source CASCADE"
)


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("postings", "0001_initial"),
        ("sources", "0001_initial"),
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
            name="Stale",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("language", models.CharField(max_length=3)),
                ("category", models.CharField(max_length=100)),
                ("hour", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Counted",
            fields=[
                ("posting_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("source_id", models.BigIntegerField()),
                ("language", models.CharField(max_length=3)),
                ("category", models.CharField(max_length=100)),
                ("hour", models.DateTimeField()),
                ("fold", models.BigIntegerField()),
                ("terms", models.BinaryField()),
            ],
            options={
                "indexes": [models.Index(fields=["language", "category", "hour"], name="trending_counted_hour")],
            },
        ),
        migrations.CreateModel(
            name="Slice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "step",
                    models.CharField(choices=[("hour", "Hour"), ("day", "Day"), ("month", "Month")], max_length=5),
                ),
                ("language", models.CharField(max_length=3)),
                ("category", models.CharField(max_length=100)),
                ("begins_at", models.DateTimeField()),
                ("documents", models.IntegerField()),
                ("terms", models.BinaryField()),
                ("counts", models.BinaryField()),
                ("pruned", models.BooleanField(default=False)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("step", "language", "category", "begins_at"), name="trending_slice_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Trend",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("language", models.CharField(max_length=3)),
                ("category", models.CharField(max_length=100)),
                (
                    "horizon",
                    models.CharField(
                        choices=[
                            ("hour", "Hour"),
                            ("day", "Day"),
                            ("week", "Week"),
                            ("month", "Month"),
                            ("year", "Year"),
                        ],
                        max_length=5,
                    ),
                ),
                (
                    "method",
                    models.CharField(choices=[("ours", "Rising now"), ("yioop", "Yioop's score")], max_length=5),
                ),
                ("rank", models.SmallIntegerField()),
                ("number", models.BigIntegerField()),
                ("term", models.TextField()),
                ("score", models.FloatField()),
                ("documents", models.IntegerField()),
                ("expected", models.FloatField(null=True)),
                ("sources", models.IntegerField()),
                ("related", django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)),
                ("curve", django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=None)),
                (
                    "posting_ids",
                    django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None),
                ),
                ("listed_at", models.DateTimeField()),
                ("since", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("language", "category", "horizon", "method", "rank"), name="trending_trend_once"
                    )
                ],
            },
        ),
        migrations.RunSQL(STORAGE, migrations.RunSQL.noop),
        migrations.RunSQL(OUTBOX, DROP_OUTBOX),
    ]
