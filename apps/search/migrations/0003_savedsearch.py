import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("search", "0002_storage"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="SavedSearch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("query", models.CharField(max_length=1000)),
                (
                    "order",
                    models.CharField(
                        choices=[
                            ("relevance", "By relevance"),
                            ("fresh", "By relevance, what is fresh first"),
                            ("newest", "Newest first"),
                        ],
                        default="relevance",
                        max_length=9,
                    ),
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
    ]
