from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0006_bytes")]

    operations = [
        migrations.AddField("plan", "learning_days", models.PositiveSmallIntegerField(db_default=14, default=14)),
    ]
