import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# Vectors are read whole or not at all, and rewritten often: stored out of line, uncompressed.
STORAGE = """
ALTER TABLE stories_member ALTER terms SET STORAGE EXTERNAL, ALTER weights SET STORAGE EXTERNAL,
    ALTER fingerprint SET STORAGE EXTERNAL;
ALTER TABLE stories_centroid ALTER terms SET STORAGE EXTERNAL, ALTER weights SET STORAGE EXTERNAL;
ALTER TABLE stories_outboxrow SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
"""

# The outbox of stories: every posting that may belong to another story.
OUTBOX = """
CREATE FUNCTION stories_note_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO stories_outboxrow (posting_id, published_at) SELECT id, published_at FROM added ORDER BY published_at, id;
    RETURN NULL;
END $$;
CREATE FUNCTION stories_note_edited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO stories_outboxrow (posting_id, published_at)
    SELECT now.id, now.published_at FROM edited now JOIN former ON former.id = now.id
    WHERE (former.text_hash, former.source_id) IS DISTINCT FROM (now.text_hash, now.source_id);
    RETURN NULL;
END $$;
CREATE FUNCTION stories_note_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO stories_outboxrow (posting_id, published_at) SELECT id, published_at FROM deleted;
    RETURN NULL;
END $$;
CREATE TRIGGER stories_note_added AFTER INSERT ON postings_posting REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION stories_note_added();
CREATE TRIGGER stories_note_edited AFTER UPDATE ON postings_posting REFERENCING NEW TABLE AS edited OLD TABLE AS former
    FOR EACH STATEMENT EXECUTE FUNCTION stories_note_edited();
CREATE TRIGGER stories_note_deleted AFTER DELETE ON postings_posting REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION stories_note_deleted();
"""

DROP_OUTBOX = "DROP FUNCTION stories_note_added, stories_note_edited, stories_note_deleted CASCADE"


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        ("postings", "0001_initial"),
        ("sources", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Authority",
            fields=[
                (
                    "source",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="authority",
                        serialize=False,
                        to="sources.source",
                    ),
                ),
                ("value", models.FloatField()),
                ("importance", models.FloatField()),
                ("earliness", models.FloatField()),
                ("originality", models.FloatField()),
                ("independence", models.FloatField()),
                ("stars", models.FloatField()),
                ("reports", models.IntegerField()),
                ("computed_at", models.DateTimeField()),
            ],
            options={
                "verbose_name_plural": "authorities",
            },
        ),
        migrations.CreateModel(
            name="Centroid",
            fields=[
                ("story_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("size", models.IntegerField()),
                ("latest", models.FloatField()),
                ("centre", models.FloatField()),
                ("terms", models.BinaryField()),
                ("weights", models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name="Head",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("turn", models.UUIDField()),
                ("next_story", models.BigIntegerField(default=1)),
                ("clock", models.FloatField(default=-1000000000.0)),
                ("merged_at", models.FloatField(default=-1000000000.0)),
                (
                    "touched",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Redirect",
            fields=[
                ("former_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("story_id", models.BigIntegerField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name="Taste",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="taste",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("is_on", models.BooleanField(default=True)),
                ("weight", models.FloatField(default=0.0)),
                ("liked", models.BinaryField(default=b"")),
                ("disliked", models.BinaryField(default=b"")),
                ("centroid", models.BinaryField(default=b"")),
                ("learnt_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="OutboxRow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("posting_id", models.BigIntegerField()),
                ("published_at", models.DateTimeField()),
            ],
            options={
                "indexes": [models.Index(fields=["published_at", "posting_id", "id"], name="stories_change_turn")],
            },
        ),
        migrations.CreateModel(
            name="Member",
            fields=[
                ("posting_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("story_id", models.BigIntegerField()),
                ("source_id", models.BigIntegerField()),
                ("published_at", models.DateTimeField()),
                ("text_hash", models.BinaryField(max_length=16)),
                ("copy_of", models.BigIntegerField(null=True)),
                ("fingerprint", models.BinaryField()),
                ("terms", models.BinaryField()),
                ("weights", models.BinaryField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["story_id", "published_at"], name="stories_member_story"),
                    models.Index(
                        condition=models.Q(("copy_of__isnull", False)), fields=["copy_of"], name="stories_member_copy"
                    ),
                    models.Index(fields=["source_id", "published_at"], name="stories_member_source"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Section",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(unique=True)),
                ("title", models.CharField(max_length=100)),
                ("titles", models.JSONField(blank=True, default=dict)),
                ("query", models.CharField(blank=True, max_length=1000)),
                ("category", models.CharField(blank=True, max_length=100)),
                ("language", models.CharField(blank=True, max_length=20)),
                (
                    "order",
                    models.CharField(choices=[('newest', 'Newest first'), ('relevance', 'Best & recent'), ('stories', 'Stories, by rank')], default='newest', max_length=9),
                ),
                ("page_size", models.PositiveSmallIntegerField(default=30)),
                ("front_size", models.PositiveSmallIntegerField(default=6)),
                ("place", models.IntegerField(default=0)),
                ("is_on", models.BooleanField(default=True)),
                ("revision", models.PositiveIntegerField(default=1)),
                ("changed_at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("page_size__range", (5, 100))), name="section_page_size"
                    ),
                    models.CheckConstraint(condition=models.Q(("front_size__lte", 20)), name="section_front_size"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Story",
            fields=[
                ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("lead_id", models.BigIntegerField()),
                ("language", models.CharField(max_length=3)),
                ("reports", models.IntegerField()),
                ("copies", models.IntegerField()),
                ("sources", models.IntegerField()),
                ("first_at", models.DateTimeField()),
                ("latest_at", models.DateTimeField()),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("sources__gt", 1)), fields=["-latest_at"], name="stories_story_latest"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="WordCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("block", models.IntegerField()),
                ("documents", models.JSONField()),
                ("terms", models.BinaryField()),
                ("counts", models.BinaryField()),
            ],
            options={
                "indexes": [models.Index(fields=["block"], name="stories_wordcount_block")],
            },
        ),
        migrations.CreateModel(
            name="Reaction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("opened_at", models.DateTimeField(null=True)),
                ("hidden_at", models.DateTimeField(null=True)),
                ("learnt", models.FloatField(default=0.0)),
                ("stale", models.BooleanField(default=False)),
                ("changed_at", models.DateTimeField()),
                (
                    "posting",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="reactions", to="postings.posting"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reactions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(condition=models.Q(("stale", True)), fields=["user"], name="reaction_stale")],
                "constraints": [models.UniqueConstraint(fields=("user", "posting"), name="reaction_once")],
            },
        ),
        migrations.RunSQL(STORAGE, migrations.RunSQL.noop),
        migrations.RunSQL(OUTBOX, DROP_OUTBOX),
    ]
