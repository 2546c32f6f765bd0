from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("trending", "0001_initial")]

    operations = [
        migrations.AddField("trend", "story_id", models.BigIntegerField(null=True)),
        migrations.AddField("trend", "label", models.TextField(default="")),
    ]
