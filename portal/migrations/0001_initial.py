from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="StuckMessage",
            fields=[
                ("id", models.CharField(max_length=200, primary_key=True, serialize=False)),
                ("task", models.CharField(max_length=200)),
                ("content", models.TextField()),
                ("tries", models.PositiveIntegerField(default=0)),
                ("first_at", models.DateTimeField()),
                ("last_at", models.DateTimeField()),
                ("set_aside_at", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, max_length=300)),
            ],
        ),
    ]
