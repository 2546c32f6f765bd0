from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]

    operations = [
        migrations.AddField(
            "user",
            "every_copy",
            models.BooleanField(
                db_default=False,
                default=False,
                help_text="Shows an article once for each of your feeds that has it, instead of once.",
            ),
        ),
    ]
