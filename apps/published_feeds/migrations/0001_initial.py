import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        ("following", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="RequestedFeed",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=7)),
                ("key", models.CharField(max_length=1500)),
                ("form", models.CharField(max_length=4)),
                ("requested_at", models.DateTimeField()),
                ("digest", models.CharField(max_length=64)),
                (
                    "waiting_hubs",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None),
                ),
                ("attempts", models.SmallIntegerField(default=0)),
                ("announced_at", models.DateTimeField(null=True)),
                ("last_error", models.CharField(blank=True, max_length=300)),
                ("due_at", models.DateTimeField()),
                ("lease_until", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["due_at"], name="requested_feed_due"),
                    models.Index(fields=["requested_at"], name="requested_feed_age"),
                ],
                "constraints": [models.UniqueConstraint(fields=("kind", "key", "form"), name="requested_feed_once")],
            },
        ),
        migrations.CreateModel(
            name="PrivateAddress",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(choices=[('all', 'All articles'), ('folder', 'Folder'), ('starred', 'Starred'), ('tag', 'Tag'), ('shared', 'Shared by you'), ('sources', 'Your feeds as OPML')], max_length=7),
                ),
                ("secret", models.CharField(max_length=43, unique=True)),
                ("made_at", models.DateTimeField()),
                (
                    "folder",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="private_addresses",
                        to="following.folder",
                    ),
                ),
                (
                    "tag",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="private_addresses",
                        to="following.tag",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="private_addresses",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("user", "kind", "folder", "tag"), name="private_address_once", nulls_distinct=False
                    )
                ],
            },
        ),
    ]
