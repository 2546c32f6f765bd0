import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

# Every retrieval moves `due_at`, which is indexed: leave room on the pages and vacuum early.
STORAGE = "ALTER TABLE retrieval_schedule SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02)"


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("postings", "0001_initial"),
        ("sources", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="WeeklyProfile",
            fields=[
                (
                    "source",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="weekly_profile",
                        serialize=False,
                        to="sources.source",
                    ),
                ),
                ("hourly", models.BinaryField()),
                ("minutes", models.BinaryField(default=b"")),
                ("weekly", models.FloatField()),
                ("root_mass", models.FloatField()),
                ("utc_offset", models.SmallIntegerField(default=0)),
                ("window", models.PositiveIntegerField(null=True)),
                ("timetable", models.BinaryField(default=b"")),
                ("period", models.FloatField(default=0.0)),
                ("chances", models.BinaryField(default=b"")),
                ("learned_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="LatenessBucket",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "stage", "upper_seconds", "shard", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("stage", models.CharField(max_length=6)),
                ("upper_seconds", models.FloatField()),
                ("shard", models.PositiveSmallIntegerField()),
                ("count", models.PositiveBigIntegerField(default=0)),
                ("seconds", models.FloatField(default=0.0)),
            ],
        ),
        migrations.CreateModel(
            name="RobotsRules",
            fields=[
                ("origin", models.CharField(max_length=300, primary_key=True, serialize=False)),
                ("body", models.TextField()),
                ("fetched_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="UnmatchedClaims",
            fields=[
                ("reason", models.CharField(max_length=20, primary_key=True, serialize=False)),
                ("count", models.PositiveBigIntegerField(default=0)),
                ("latest_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Worker",
            fields=[
                ("name", models.CharField(max_length=200, primary_key=True, serialize=False)),
                ("seen_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Crawl",
            fields=[
                (
                    "source",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="crawl",
                        serialize=False,
                        to="sources.source",
                    ),
                ),
                ("max_depth", models.PositiveSmallIntegerField(default=6)),
                ("max_pages", models.PositiveIntegerField(default=100000)),
                ("max_index_pages", models.PositiveIntegerField(default=100)),
                ("pages_per_day", models.PositiveIntegerField(default=2000)),
                ("known_pages", models.PositiveIntegerField(default=0)),
                ("patterns", models.JSONField(default=dict)),
                (
                    "keen_tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40), null=True, size=None
                    ),
                ),
                ("day_began_at", models.DateTimeField(null=True)),
                ("requests_today", models.PositiveIntegerField(default=0)),
                ("due_at", models.DateTimeField(null=True)),
                ("explored_at", models.DateTimeField(null=True)),
                ("leased_until", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="crawl_due")
                ],
            },
        ),
        migrations.CreateModel(
            name="Plan",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("policy", models.CharField(default="ours", max_length=20)),
                ("budget", models.FloatField(default=12.0, help_text="Retrievals that may be made.")),
                (
                    "unit",
                    models.CharField(
                        choices=[
                            ("source_day", "per feed and day"),
                            ("day", "per day, all feeds together"),
                            ("hour", "per hour, all feeds together"),
                        ],
                        default="source_day",
                        max_length=10,
                    ),
                ),
                ("pages_policy", models.CharField(default="same", max_length=20)),
                (
                    "longest_gap",
                    models.FloatField(default=24.0, help_text="Hours; no source waits longer, whatever it is worth."),
                ),
                (
                    "interest_share",
                    models.FloatField(
                        default=0.1,
                        help_text="Of its retrievals, how many a source may lose to those that people's searches wait for.",
                    ),
                ),
                ("changed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("revision", models.PositiveIntegerField(default=1)),
                ("planned_revision", models.PositiveIntegerField(default=0)),
                ("price", models.FloatField(null=True)),
                ("priced_at", models.DateTimeField(null=True)),
                ("learned_at", models.DateTimeField(null=True)),
                ("priors", models.JSONField(null=True)),
                ("curve", models.JSONField(default=list)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("pk", 1)), name="plan_is_one"),
                    models.CheckConstraint(condition=models.Q(("budget__gt", 0)), name="plan_budget_positive"),
                    models.CheckConstraint(
                        condition=models.Q(("longest_gap__gte", 1), ("longest_gap__lte", 168)),
                        name="plan_longest_gap_in_range",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("interest_share__gte", 0), ("interest_share__lte", 0.5)),
                        name="plan_interest_share_in_range",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Schedule",
            fields=[
                (
                    "source",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="schedule",
                        serialize=False,
                        to="sources.source",
                    ),
                ),
                ("partition", models.PositiveSmallIntegerField()),
                ("due_at", models.DateTimeField(null=True)),
                ("first_due_at", models.DateTimeField(null=True)),
                ("sequence", models.IntegerField(default=0)),
                ("dispatched_at", models.DateTimeField(null=True)),
                ("worker", models.CharField(blank=True, max_length=200)),
                ("attempts", models.PositiveSmallIntegerField(db_default=0, default=0)),
                ("reason", models.CharField(blank=True, max_length=200)),
                ("earliest_at", models.DateTimeField(null=True)),
                (
                    "ahead",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.DateTimeField(), default=list, size=None
                    ),
                ),
                ("worth", models.FloatField(default=1.0)),
                ("observed_at", models.DateTimeField(null=True)),
                ("activity_seen", models.FloatField(default=10.0)),
                ("activity_expected", models.FloatField(default=10.0)),
                ("hub_url", models.TextField(blank=True)),
                ("topic_url", models.TextField(blank=True)),
                ("pushed_until", models.DateTimeField(null=True)),
                ("etag", models.TextField(blank=True)),
                ("last_modified", models.TextField(blank=True)),
                ("body_hash", models.BinaryField(default=b"", max_length=16)),
                ("requested_at", models.DateTimeField(null=True)),
                ("not_before", models.DateTimeField(null=True)),
                ("consecutive_failures", models.PositiveIntegerField(default=0)),
                ("failing_since", models.DateTimeField(null=True)),
                ("slowdown", models.FloatField(default=1.0)),
                ("validated", models.BooleanField(default=False)),
                ("moved_to", models.TextField(blank=True)),
                ("moved_count", models.PositiveIntegerField(default=0)),
                ("ttl", models.PositiveIntegerField(null=True)),
                ("skip_hours", models.PositiveIntegerField(default=0)),
                ("skip_days", models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="schedule_due"),
                    models.Index(
                        condition=models.Q(("failing_since__isnull", False)),
                        fields=["failing_since"],
                        name="schedule_failing",
                    ),
                    models.Index(
                        condition=models.Q(("dispatched_at__isnull", False)),
                        fields=["dispatched_at"],
                        name="schedule_claimed",
                    ),
                    models.Index(
                        condition=models.Q(("worker", ""), _negated=True), fields=["worker"], name="schedule_begun"
                    ),
                    models.Index(
                        condition=models.Q(("first_due_at__isnull", False)),
                        fields=["first_due_at"],
                        name="schedule_first_due",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Page",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.BinaryField(max_length=16)),
                ("url", models.CharField(max_length=2000)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("unknown", "Not visited yet"),
                            ("news", "News"),
                            ("index", "Index page"),
                            ("valueless", "Not useful"),
                        ],
                        default="unknown",
                        max_length=10,
                    ),
                ),
                ("probability", models.FloatField(default=0.0)),
                ("decided_by", models.CharField(blank=True, max_length=20)),
                ("reason", models.CharField(blank=True, max_length=200)),
                ("link_text", models.CharField(blank=True, max_length=300)),
                ("depth", models.PositiveSmallIntegerField(default=0)),
                ("priority", models.FloatField(default=0.0)),
                ("found_at", models.DateTimeField()),
                ("due_at", models.DateTimeField(null=True)),
                ("fetches", models.PositiveSmallIntegerField(default=0)),
                ("failures", models.PositiveSmallIntegerField(default=0)),
                ("fetched_at", models.DateTimeField(null=True)),
                ("status", models.PositiveSmallIntegerField(default=0)),
                (
                    "found_on",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="sources.source"
                    ),
                ),
                (
                    "posting",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="pages",
                        to="postings.posting",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pages",
                        to="sources.source",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("due_at__isnull", False)),
                        fields=["source", "-priority", "id"],
                        name="page_waiting",
                    ),
                    models.Index(
                        condition=models.Q(("found_on__isnull", False)), fields=["found_on"], name="page_found_on"
                    ),
                ],
                "constraints": [models.UniqueConstraint(fields=("source", "key"), name="page_of_source")],
            },
        ),
        migrations.CreateModel(
            name="Retrieval",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("due_at", models.DateTimeField()),
                ("dispatched_at", models.DateTimeField()),
                ("begun_at", models.DateTimeField(null=True)),
                ("fetched_at", models.DateTimeField()),
                ("stored_at", models.DateTimeField()),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("new", "New articles"),
                            ("unchanged", "Nothing new"),
                            ("not_modified", "Not modified (304)"),
                            ("deferred", "Postponed: host was busy"),
                            ("throttled", "Rate limited"),
                            ("refused", "Not allowed"),
                            ("failed", "Failed"),
                            ("not_a_feed", "Not a feed"),
                            ("gone", "Gone"),
                            ("pushed", "Sent by the publisher"),
                        ],
                        max_length=12,
                    ),
                ),
                ("status", models.PositiveSmallIntegerField(default=0)),
                ("new", models.PositiveIntegerField(default=0)),
                ("edited", models.PositiveIntegerField(default=0)),
                ("dated", models.PositiveIntegerField(default=0)),
                ("delay_seconds", models.FloatField(default=0.0)),
                ("longest_delay_seconds", models.FloatField(default=0.0)),
                ("wire_bytes", models.PositiveIntegerField(default=0)),
                ("elapsed_ms", models.PositiveIntegerField(default=0)),
                ("message", models.CharField(blank=True, max_length=500)),
                (
                    "source",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="retrievals",
                        to="sources.source",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["source", "-fetched_at"], name="retrieval_of_source"),
                    models.Index(fields=["fetched_at"], name="retrieval_time"),
                ],
            },
        ),
        migrations.RunSQL(STORAGE, migrations.RunSQL.noop),
    ]
