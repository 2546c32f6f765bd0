import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# Arrays are stored uncompressed: they are read far more often than written. Each merge of segments updates the
# counts of terms, hence the room on their pages. `largest` is in the index, so bounds are read without the rows.
STORAGE = """
ALTER TABLE search_term SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE search_outboxrow SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
ALTER TABLE search_row SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE search_row ALTER postings SET STORAGE EXTERNAL;
ALTER TABLE search_row DROP CONSTRAINT search_row_pkey;
ALTER TABLE search_row ADD PRIMARY KEY (term_id, generation_id) INCLUDE (largest);
ALTER TABLE search_document ALTER sequence SET STORAGE EXTERNAL, ALTER pairs SET STORAGE EXTERNAL;
ALTER TABLE search_generation ALTER dead SET STORAGE EXTERNAL, ALTER posting_ids SET STORAGE EXTERNAL,
    ALTER source_ids SET STORAGE EXTERNAL, ALTER published SET STORAGE EXTERNAL;
"""

# The outbox of search: statement-level triggers record each posting that is added, edited or deleted. Comparing all
# postings with all documents takes seconds; what really differs is decided by hash when the outbox is consumed.
OUTBOX = """
CREATE FUNCTION search_note_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_outboxrow (posting_id, rebuild) SELECT id, false FROM added ORDER BY published_at, id;
    RETURN NULL;
END $$;
CREATE FUNCTION search_note_edited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_outboxrow (posting_id, rebuild)
    SELECT now.id, false FROM edited now JOIN former ON former.id = now.id
    WHERE (former.text_hash, former.source_id, former.published_at)
        IS DISTINCT FROM (now.text_hash, now.source_id, now.published_at);
    RETURN NULL;
END $$;
CREATE FUNCTION search_note_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_outboxrow (posting_id, rebuild) SELECT id, false FROM deleted;
    RETURN NULL;
END $$;
CREATE TRIGGER search_note_added AFTER INSERT ON postings_posting REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION search_note_added();
CREATE TRIGGER search_note_edited AFTER UPDATE ON postings_posting REFERENCING NEW TABLE AS edited OLD TABLE AS former
    FOR EACH STATEMENT EXECUTE FUNCTION search_note_edited();
CREATE TRIGGER search_note_deleted AFTER DELETE ON postings_posting REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION search_note_deleted();
"""

DROP_OUTBOX = "DROP FUNCTION search_note_added, search_note_edited, search_note_deleted CASCADE"


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        ("postings", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Head",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("next_document", models.IntegerField(default=0)),
                ("revision", models.BigIntegerField(db_default=0)),
            ],
        ),
        migrations.CreateModel(
            name="Loss",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("term_id", models.IntegerField(db_index=True)),
                ("documents", models.IntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="SpelledWord",
            fields=[
                ("word", models.TextField(primary_key=True, serialize=False)),
                ("documents", models.IntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="OutboxRow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("posting_id", models.BigIntegerField()),
                ("rebuild", models.BooleanField(default=False)),
            ],
            options={
                "indexes": [models.Index(fields=["rebuild", "id"], name="search_change_turn")],
            },
        ),
        migrations.CreateModel(
            name="Document",
            fields=[
                ("number", models.IntegerField(primary_key=True, serialize=False)),
                ("posting_id", models.BigIntegerField()),
                ("text_hash", models.BinaryField(max_length=16)),
                ("source_id", models.BigIntegerField()),
                ("published_at", models.DateTimeField()),
                ("language", models.CharField(max_length=3)),
                ("title_length", models.IntegerField()),
                ("dead", models.BooleanField(default=False)),
                ("sequence", models.BinaryField()),
                ("pairs", models.BinaryField()),
                ("names", models.BinaryField()),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("dead", True)), fields=["number"], name="search_document_dead")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("dead", False)), fields=("posting_id",), name="search_document_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Generation",
            fields=[
                ("id", models.AutoField(primary_key=True, serialize=False)),
                ("first", models.IntegerField()),
                ("size", models.IntegerField()),
                ("average_length", models.FloatField()),
                ("latest", models.DateTimeField()),
                ("tokens", models.BigIntegerField()),
                ("dead_count", models.IntegerField(default=0)),
                ("dropped", models.IntegerField(default=0)),
                ("impact_version", models.TextField()),
                ("dead", models.BinaryField()),
                ("posting_ids", models.BinaryField()),
                ("source_ids", models.BinaryField()),
                ("published", models.BinaryField()),
                ("languages", models.BinaryField()),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("first",), name="search_generation_first")],
            },
        ),
        migrations.CreateModel(
            name="Row",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "term_id", "generation_id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("term_id", models.IntegerField()),
                ("generation_id", models.IntegerField()),
                ("largest", models.SmallIntegerField()),
                ("postings", models.BinaryField()),
            ],
            options={
                "indexes": [models.Index(fields=["generation_id"], name="search_row_generation")],
            },
        ),
        migrations.CreateModel(
            name="Term",
            fields=[
                ("id", models.AutoField(primary_key=True, serialize=False)),
                ("term", models.TextField(db_collation="C")),
                ("document_frequency", models.IntegerField(default=0)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("term",), name="search_term_once")],
            },
        ),
        migrations.CreateModel(
            name="SavedSearch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("query", models.CharField(max_length=1000)),
                (
                    "order",
                    models.CharField(choices=[('relevance', 'Best match'), ('fresh', 'Best & recent'), ('newest', 'Newest first')], default='relevance', max_length=9),
                ),
                ("secret", models.CharField(max_length=43, unique=True)),
                ("saved_at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_searches",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("user", "name"), name="search_saved_once")],
            },
        ),
        migrations.RunSQL("CREATE SEQUENCE search_revision", "DROP SEQUENCE search_revision"),
        migrations.RunSQL(STORAGE, migrations.RunSQL.noop),
        migrations.RunSQL(OUTBOX, DROP_OUTBOX),
    ]
