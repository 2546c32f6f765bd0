from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0004_plan_mass")]

    operations = [
        migrations.CreateModel(
            name="Backtest",
            fields=[
                ("at", models.DateTimeField(primary_key=True, serialize=False)),
                ("begins_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                ("sources", models.PositiveIntegerField()),
                ("retrievals", models.FloatField()),
                ("results", models.JSONField()),
                ("shares", models.JSONField()),
                ("saved", models.JSONField()),
                ("patterns", models.JSONField()),
            ],
        ),
    ]
