from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_typesetting_and_layouts")]

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
