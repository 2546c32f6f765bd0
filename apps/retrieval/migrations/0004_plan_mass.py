from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0003_source_changes")]

    operations = [
        migrations.AddField("plan", "mass", models.FloatField(null=True)),
        migrations.AddField("plan", "rehearsed_mass", models.FloatField(null=True)),
        migrations.AddField("schedule", "repeats", models.PositiveIntegerField(db_default=0, default=0)),
    ]
