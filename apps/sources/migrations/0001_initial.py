import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

# The audit log is append-only. Deleting an account may clear the actor of its entries, nothing else.
APPEND_ONLY = """
CREATE FUNCTION sources_keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND new.actor_id IS NULL THEN
        old.actor_id := NULL;
        IF new IS NOT DISTINCT FROM old THEN
            RETURN new;
        END IF;
    END IF;
    RAISE EXCEPTION 'The record of what was decided is never changed.' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER sources_keep_audit BEFORE UPDATE OR DELETE ON sources_auditentry
    FOR EACH ROW EXECUTE FUNCTION sources_keep_audit();
"""

DROP_APPEND_ONLY = "DROP FUNCTION sources_keep_audit CASCADE"


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Source",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("url", models.CharField(max_length=2000, unique=True)),
                ("recipe", models.JSONField(blank=True, default=dict)),
                ("kind", models.CharField(default="feed", max_length=20)),
                (
                    "state",
                    models.CharField(choices=[('active', 'Active'), ('paused', 'Paused by an administrator'), ('gone', 'Gone: ended by its publisher')], default='active', max_length=10),
                ),
                ("title", models.CharField(blank=True, max_length=1000)),
                ("site_url", models.CharField(blank=True, max_length=4000)),
                ("description", models.TextField(blank=True)),
                ("language", models.CharField(blank=True, max_length=20)),
                ("category", models.CharField(blank=True, max_length=100)),
                ("image_url", models.CharField(blank=True, max_length=4000)),
                (
                    "weight",
                    models.FloatField(default=1.0, help_text='1 is normal. At twice the weight, its articles count twice as much when checks are planned.'),
                ),
                ("interest", models.FloatField(default=1.0)),
                (
                    "listed",
                    models.BooleanField(default=False, help_text='In the catalogue, with its articles open to everyone.'),
                ),
                (
                    "always_retrieved",
                    models.BooleanField(default=False, help_text='Checked even while it has no followers.'),
                ),
                ("clock_rate", models.FloatField(default=1.0)),
                ("min_gap", models.PositiveIntegerField(blank=True, null=True)),
                (
                    "full_text",
                    models.BooleanField(default=False, help_text='If an item is only an excerpt, its page is fetched once and its text extracted.'),
                ),
                (
                    "expiry_days",
                    models.PositiveIntegerField(blank=True, help_text='Articles older than this many days are deleted, unless someone has starred them.', null=True),
                ),
                (
                    "stop_regex",
                    models.CharField(blank=True, help_text='Words that match are never trending words of this feed.', max_length=500),
                ),
                ("added_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "site",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="index_pages",
                        to="sources.source",
                    ),
                ),
            ],
            options={
                "permissions": [
                    ("open_private_articles", "Can open articles of feeds that are not shown to everybody")
                ],
                "indexes": [
                    models.Index(
                        condition=models.Q(("listed", True)), fields=["category", "title"], name="source_catalogue"
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("weight__gte", 0), ("weight__lte", 1000)), name="source_weight_in_range"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("interest__gte", 0), ("interest__lte", 1000)),
                        name="source_interest_in_range",
                    ),
                    models.CheckConstraint(condition=models.Q(("clock_rate__gt", 0)), name="source_clock_rate_positive"),
                    models.CheckConstraint(condition=models.Q(("url__startswith", "http")), name="source_url_is_http"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "index"), ("site__isnull", False)),
                            models.Q(models.Q(("kind", "index"), _negated=True), ("site", None)),
                            _connector="OR",
                        ),
                        name="source_index_has_site",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="FormerAddress",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("url", models.CharField(max_length=2000, unique=True)),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="former_addresses",
                        to="sources.source",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("place", models.CharField(max_length=60)),
                ("why", models.CharField(blank=True, max_length=300)),
                ("batch", models.UUIDField(null=True)),
                ("source_id", models.BigIntegerField(null=True)),
                ("name", models.CharField(blank=True, max_length=300)),
                (
                    "what",
                    models.CharField(choices=[('weight', 'Weight'), ('state', 'State'), ('listed', 'Visible to everyone'), ('always_retrieved', 'Always checked'), ('category', 'Category'), ('language', 'Language'), ('url', 'Address'), ('merged', 'Merged'), ('deleted', 'Deleted'), ('plan', 'Plan'), ('person', 'Account'), ('opened', 'Private article opened')], max_length=20),
                ),
                ("before", models.CharField(blank=True, max_length=300)),
                ("after", models.CharField(blank=True, max_length=300)),
                (
                    "actor",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "audit entries",
                "indexes": [
                    models.Index(fields=["source_id", "-id"], name="audit_of_source"),
                    models.Index(fields=["what", "-id"], name="audit_of_kind"),
                    models.Index(fields=["actor", "-id"], name="audit_of_actor"),
                ],
            },
        ),
        migrations.RunSQL(APPEND_ONLY, DROP_APPEND_ONLY),
    ]
