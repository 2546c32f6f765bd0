from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0001_initial")]

    operations = [
        migrations.AddField(
            "retrieval",
            "origin",
            models.CharField(
                choices=[("plan", "Planned"), ("reader", "On request")], db_default="plan", default="plan", max_length=6
            ),
        ),
    ]
