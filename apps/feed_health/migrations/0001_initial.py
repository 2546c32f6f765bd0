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
            name="Condition",
            fields=[
                (
                    "source",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="condition",
                        serialize=False,
                        to="sources.source",
                    ),
                ),
                ("url", models.CharField(max_length=2000)),
                ("broken_since", models.DateTimeField(null=True)),
                ("is_gone", models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name="MailSetting",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="notice_mail_wish",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("since", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Notice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(choices=[('broken', 'Failing'), ('well', 'Working again'), ('moved', 'Moved'), ('gone', 'Ended')], max_length=6),
                ),
                ("at", models.DateTimeField()),
                ("address", models.CharField(blank=True, max_length=2000)),
                ("created_at", models.DateTimeField()),
                ("dismissed_at", models.DateTimeField(null=True)),
                ("mailed_at", models.DateTimeField(null=True)),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="notices", to="sources.source"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notices",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("dismissed_at", None)), fields=["user", "-id"], name="notice_open")
                ],
                "constraints": [models.UniqueConstraint(fields=("user", "source", "kind", "at"), name="notice_once")],
            },
        ),
    ]
