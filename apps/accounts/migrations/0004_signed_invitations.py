from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_every_copy")]
    operations = [migrations.DeleteModel("Invitation")]
