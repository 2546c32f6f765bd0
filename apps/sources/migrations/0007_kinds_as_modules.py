from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sources", "0006_open_private_articles")]

    operations = [
        migrations.AlterField(model_name="source", name="kind", field=models.CharField(default="feed", max_length=20)),
    ]
