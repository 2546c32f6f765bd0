import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("sources", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Subscription",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(choices=[("websub", "WebSub"), ("rsscloud", "rssCloud")], max_length=10)),
                ("hub", models.TextField()),
                ("topic", models.TextField()),
                ("token", models.CharField(max_length=64, unique=True)),
                ("callback", models.TextField()),
                ("secret", models.CharField(blank=True, max_length=200)),
                ("offered_secret", models.CharField(blank=True, max_length=200)),
                ("former_secret", models.CharField(blank=True, max_length=200)),
                (
                    "state",
                    models.CharField(choices=[('pending', 'Requested, not confirmed yet'), ('active', 'Active'), ('denied', 'Denied'), ('failed', 'Failed: retried once a week'), ('ending', 'Ending'), ('ended', 'Ended')], default='pending', max_length=10),
                ),
                ("requested_at", models.DateTimeField(null=True)),
                ("verified_at", models.DateTimeField(null=True)),
                ("lease_seconds", models.PositiveBigIntegerField(null=True)),
                ("expires_at", models.DateTimeField(null=True)),
                ("due_at", models.DateTimeField(null=True)),
                ("failures", models.PositiveSmallIntegerField(default=0)),
                ("last_error", models.CharField(blank=True, max_length=300)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "source",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="subscriptions",
                        to="sources.source",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="subscription_due"
                    ),
                    models.Index(
                        condition=models.Q(("expires_at__isnull", False)),
                        fields=["expires_at"],
                        name="subscription_expires",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["ending", "ended"]), _negated=True),
                        fields=("source",),
                        name="subscription_is_one",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("received_at", models.DateTimeField()),
                ("body", models.BinaryField()),
                ("size", models.PositiveIntegerField()),
                ("content_type", models.CharField(blank=True, max_length=300)),
                ("content_encoding", models.CharField(blank=True, max_length=100)),
                ("signature", models.CharField(blank=True, max_length=300)),
                (
                    "state",
                    models.CharField(choices=[('waiting', 'Waiting'), ('stored', 'Stored'), ('asked', 'Feed is being checked'), ('ignored', 'Ignored'), ('failed', 'Failed')], default='waiting', max_length=10),
                ),
                ("error", models.CharField(blank=True, max_length=300)),
                ("new", models.PositiveIntegerField(default=0)),
                ("edited", models.PositiveIntegerField(default=0)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("tried_at", models.DateTimeField(null=True)),
                ("done_at", models.DateTimeField(null=True)),
                (
                    "subscription",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="websub.subscription",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "deliveries",
                "indexes": [
                    models.Index(fields=["subscription", "-received_at"], name="delivery_of_subscription"),
                    models.Index(fields=["received_at"], name="delivery_time"),
                    models.Index(
                        condition=models.Q(("state", "waiting")), fields=["received_at"], name="delivery_waiting"
                    ),
                ],
            },
        ),
    ]
