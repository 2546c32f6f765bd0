from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="RawDocument",
            fields=[
                ("hash", models.BinaryField(max_length=32, primary_key=True, serialize=False)),
                ("size", models.PositiveIntegerField()),
                ("stored_size", models.PositiveIntegerField()),
                ("content_type", models.CharField(max_length=200)),
                ("url", models.TextField()),
                ("stored_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField(db_index=True)),
            ],
        ),
    ]
