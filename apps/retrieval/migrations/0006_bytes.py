from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0005_backtest")]

    operations = [
        migrations.AddField(
            "plan",
            "counted",
            models.CharField(
                choices=[("requests", "checks"), ("bytes", "kilobytes")],
                db_default="requests",
                default="requests",
                max_length=8,
            ),
        ),
        migrations.AddField("schedule", "answer_bytes", models.FloatField(null=True)),
        migrations.AlterField(
            "plan",
            "budget",
            models.FloatField(default=12.0, help_text="Retrievals, or the kilobytes that they receive."),
        ),
    ]
