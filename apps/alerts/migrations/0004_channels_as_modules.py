from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("alerts", "0003_relevance")]

    operations = [
        migrations.AlterField(model_name="message", name="channel", field=models.CharField(max_length=20)),
        migrations.AddField(model_name="rule", name="settings", field=models.JSONField(blank=True, default=dict)),
    ]
