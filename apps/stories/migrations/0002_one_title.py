from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("stories", "0001_initial"),
    ]

    operations = [
        migrations.RemoveField(model_name="section", name="titles"),
    ]
