import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

STORAGE = """
ALTER TABLE alerts_outboxrow SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
"""

# The outboxes of alerts: postings that saved searches may match, and saved searches that were changed.
OUTBOX = """
CREATE FUNCTION alerts_note_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO alerts_outboxrow (posting_id) SELECT id FROM added ORDER BY id;
    RETURN NULL;
END $$;
CREATE FUNCTION alerts_note_edited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO alerts_outboxrow (posting_id)
    SELECT now.id FROM edited now JOIN former ON former.id = now.id
    WHERE (former.text_hash, former.language) IS DISTINCT FROM (now.text_hash, now.language);
    RETURN NULL;
END $$;
CREATE FUNCTION alerts_note_saved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO alerts_revision (saved_id) SELECT id FROM saved;
    RETURN NULL;
END $$;
CREATE TRIGGER alerts_note_added AFTER INSERT ON postings_posting REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION alerts_note_added();
CREATE TRIGGER alerts_note_edited AFTER UPDATE ON postings_posting
    REFERENCING NEW TABLE AS edited OLD TABLE AS former
    FOR EACH STATEMENT EXECUTE FUNCTION alerts_note_edited();
CREATE TRIGGER alerts_note_saved AFTER INSERT ON search_savedsearch REFERENCING NEW TABLE AS saved
    FOR EACH STATEMENT EXECUTE FUNCTION alerts_note_saved();
CREATE TRIGGER alerts_note_resaved AFTER UPDATE ON search_savedsearch REFERENCING NEW TABLE AS saved
    FOR EACH STATEMENT EXECUTE FUNCTION alerts_note_saved();
CREATE TRIGGER alerts_note_unsaved AFTER DELETE ON search_savedsearch REFERENCING OLD TABLE AS saved
    FOR EACH STATEMENT EXECUTE FUNCTION alerts_note_saved();
"""

DROP_OUTBOX = "DROP FUNCTION alerts_note_added, alerts_note_edited, alerts_note_saved CASCADE"


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        ("postings", "0001_initial"),
        ("search", "0001_initial"),
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
            name="Profile",
            fields=[
                (
                    "source",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="profile",
                        serialize=False,
                        to="sources.source",
                    ),
                ),
                ("documents", models.IntegerField()),
                ("terms", models.BinaryField()),
                ("weights", models.BinaryField()),
                ("read_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Revision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("saved_id", models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="Rule",
            fields=[
                (
                    "saved",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="rule",
                        serialize=False,
                        to="search.savedsearch",
                    ),
                ),
                ("mark_read", models.BooleanField(default=False)),
                ("star", models.BooleanField(default=False)),
                ("hide", models.BooleanField(default=False)),
                ("tag", models.CharField(blank=True, max_length=50)),
                (
                    "mail",
                    models.CharField(blank=True, choices=[('', 'No mail'), ('once', 'Immediately'), ('hour', 'Once an hour'), ('day', 'Once a day')], default='', max_length=4),
                ),
                ("push", models.BooleanField(default=False)),
                ("webhook_url", models.CharField(blank=True, max_length=2000)),
                ("webhook_secret", models.CharField(blank=True, max_length=64)),
                ("settings", models.JSONField(blank=True, default=dict)),
                ("stop_token", models.CharField(max_length=43, unique=True)),
                ("stopped_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Browser",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("endpoint", models.CharField(max_length=2000, unique=True)),
                ("public_key", models.CharField(max_length=100)),
                ("secret", models.CharField(max_length=50)),
                ("name", models.CharField(blank=True, max_length=200)),
                ("added_at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="push_browsers",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("key", models.UUIDField(unique=True)),
                ("channel", models.CharField(max_length=20)),
                ("hits", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                (
                    "state",
                    models.CharField(choices=[('waiting', 'Waiting'), ('sent', 'Sent'), ('failed', 'Failed'), ('dropped', 'Cancelled')], default='waiting', max_length=7),
                ),
                ("created_at", models.DateTimeField()),
                ("due_at", models.DateTimeField()),
                ("lease_until", models.DateTimeField(null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("done_at", models.DateTimeField(null=True)),
                ("error", models.CharField(blank=True, max_length=300)),
                (
                    "browser",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="messages",
                        to="alerts.browser",
                    ),
                ),
                (
                    "saved",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="messages",
                        to="search.savedsearch",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="alert_messages",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("state", "waiting")), fields=["due_at"], name="message_due"),
                    models.Index(condition=models.Q(("state", "waiting")), fields=["user"], name="message_waiting"),
                    models.Index(fields=["user", "-id"], name="message_of_user"),
                    models.Index(condition=models.Q(("state", "failed")), fields=["user", "-id"], name="message_dead"),
                    models.Index(
                        condition=models.Q(("state", "sent"), models.Q(("channel", "webhook"), _negated=True)),
                        fields=["user", "done_at"],
                        name="message_told",
                    ),
                    models.Index(
                        condition=models.Q(("done_at__isnull", False)), fields=["done_at"], name="message_done"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Attempt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("took", models.FloatField()),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("error", models.CharField(blank=True, max_length=300)),
                (
                    "message",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="log", to="alerts.message"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Relevance",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("value", models.FloatField()),
                (
                    "saved",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="relevances",
                        to="search.savedsearch",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="relevances", to="sources.source"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("saved", "source"), name="relevance_once")],
            },
        ),
        migrations.CreateModel(
            name="PercolatorQuery",
            fields=[
                (
                    "saved",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="percolator_query",
                        serialize=False,
                        to="search.savedsearch",
                    ),
                ),
                ("query", models.CharField(max_length=1000)),
                ("refusal", models.CharField(blank=True, max_length=300)),
                ("weighed", models.CharField(blank=True, db_default="", max_length=1000)),
                ("importance", models.FloatField(default=1.0)),
                ("counted", models.FloatField(db_default=0.0)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("importance__gte", 0), ("importance__lte", 10)), name="standing_importance"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="VapidKey",
            fields=[
                ("id", models.SmallAutoField(primary_key=True, serialize=False)),
                ("private_key", models.CharField(max_length=50)),
                ("made_at", models.DateTimeField()),
            ],
            options={
                "constraints": [models.CheckConstraint(condition=models.Q(("id", 1)), name="vapid_key_once")],
            },
        ),
        migrations.CreateModel(
            name="NotificationSettings",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="notification_settings",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("quiet_from", models.TimeField(null=True)),
                ("quiet_until", models.TimeField(null=True)),
                ("digest_hour", models.PositiveSmallIntegerField(default=7)),
                ("most_a_day", models.PositiveIntegerField(default=50)),
            ],
            options={
                "verbose_name_plural": "notification settings",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("digest_hour__lte", 23)), name="wishes_digest_hour"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("quiet_from__isnull", True), ("quiet_until__isnull", True)),
                            models.Q(("quiet_from__isnull", False), ("quiet_until__isnull", False)),
                            _connector="OR",
                        ),
                        name="wishes_quiet_both",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="QueryTerm",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("user_id", models.BigIntegerField()),
                ("term", models.TextField(db_collation="C")),
                (
                    "beside",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(db_collation="C"), default=list, size=None
                    ),
                ),
                ("languages", models.BigIntegerField()),
                ("exact", models.BooleanField(default=False)),
                (
                    "saved",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="query_terms",
                        to="search.savedsearch",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["term"],
                        include=("saved", "user_id", "languages", "exact", "beside"),
                        name="anchor_term",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Hit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("source_id", models.BigIntegerField()),
                ("published_at", models.DateTimeField()),
                ("retrieved_at", models.DateTimeField()),
                ("found_at", models.DateTimeField()),
                (
                    "posting",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="hits",
                        to="postings.posting",
                    ),
                ),
                (
                    "saved",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="hits",
                        to="search.savedsearch",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("saved", "posting"), name="hit_once")],
            },
        ),
        migrations.RunSQL(STORAGE, migrations.RunSQL.noop),
        migrations.RunSQL(OUTBOX, DROP_OUTBOX),
    ]
