import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        ("sources", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Waiting",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("member", models.CharField(max_length=40)),
                ("key", models.CharField(max_length=64)),
                ("record", models.JSONField()),
                ("noted_at", models.DateTimeField()),
                ("due_at", models.DateTimeField(db_index=True)),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="sources.source"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "waiting",
                "constraints": [
                    models.UniqueConstraint(fields=("user", "member", "source", "key"), name="waiting_once")
                ],
            },
        ),
    ]
