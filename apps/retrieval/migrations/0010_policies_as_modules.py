from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0009_lateness")]

    operations = [
        migrations.AlterField(model_name="plan", name="policy", field=models.CharField(default="ours", max_length=20)),
        migrations.AlterField(
            model_name="plan", name="pages_policy", field=models.CharField(default="same", max_length=20)
        ),
    ]
