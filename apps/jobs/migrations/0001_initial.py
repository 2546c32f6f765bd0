import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Job",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=40)),
                ("parameters", models.JSONField(default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("running", "Running"),
                            ("paused", "Paused"),
                            ("cancelled", "Cancelled"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                        ],
                        default="waiting",
                        max_length=9,
                    ),
                ),
                (
                    "stage",
                    models.CharField(choices=[('cut', 'Splitting'), ('map', 'Map'), ('reduce', 'Reduce')], default='cut', max_length=6),
                ),
                ("requested_by", models.CharField(max_length=150)),
                ("requested_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("begun_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("problem", models.TextField(blank=True)),
                ("result", models.JSONField(default=dict)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["waiting", "running", "paused"])),
                        fields=["id"],
                        name="job_unfinished",
                    ),
                    models.Index(fields=["kind", "-id"], name="job_of_kind"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["waiting", "running", "paused"])),
                        fields=("kind", "parameters"),
                        name="job_once_at_a_time",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Split",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "stage",
                    models.CharField(choices=[('cut', 'Splitting'), ('map', 'Map'), ('reduce', 'Reduce')], max_length=6),
                ),
                ("number", models.IntegerField()),
                ("key", models.CharField(blank=True, max_length=255)),
                ("parameters", models.JSONField(default=dict)),
                ("records", models.IntegerField()),
                ("size", models.FloatField()),
                ("estimate", models.FloatField(null=True)),
                ("turn", models.IntegerField()),
                (
                    "state",
                    models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('done', 'Done'), ('dead', 'Failed')], default='waiting', max_length=7),
                ),
                ("open", models.BooleanField(default=True)),
                ("failures", models.SmallIntegerField(default=0)),
                ("losses", models.SmallIntegerField(default=0)),
                ("output", models.JSONField(default=dict)),
                (
                    "job",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="splits",
                        to="jobs.job",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("open", True)), fields=["job", "turn"], name="split_open")
                ],
                "constraints": [models.UniqueConstraint(fields=("job", "stage", "number"), name="split_number")],
            },
        ),
        migrations.CreateModel(
            name="Attempt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.SmallIntegerField()),
                ("worker", models.CharField(max_length=200)),
                ("begun_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("leased_until", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "outcome",
                    models.CharField(blank=True, choices=[('done', 'Done'), ('failed', 'Failed'), ('lost', 'Worker lost'), ('overtaken', 'Another worker was first'), ('cancelled', 'Stopped')], max_length=9),
                ),
                ("problem", models.TextField(blank=True)),
                (
                    "split",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attempts",
                        to="jobs.split",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("outcome", "")), fields=["leased_until"], name="attempt_leased")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("split", "number"), name="attempt_number"),
                    models.UniqueConstraint(
                        condition=models.Q(("outcome", "done")), fields=("split",), name="attempt_that_counts"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Emitted",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("part", models.SmallIntegerField()),
                ("key", models.TextField()),
                ("value", models.JSONField()),
                (
                    "job",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="emitted",
                        to="jobs.job",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["job", "part"], name="emitted_part")],
            },
        ),
        migrations.CreateModel(
            name="DeadLetter",
            fields=[
                ("id", models.CharField(max_length=200, primary_key=True, serialize=False)),
                ("task", models.CharField(max_length=200)),
                ("content", models.TextField()),
                ("tries", models.PositiveIntegerField(default=0)),
                ("first_at", models.DateTimeField()),
                ("last_at", models.DateTimeField()),
                ("abandoned_at", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, max_length=300)),
            ],
        ),
    ]
