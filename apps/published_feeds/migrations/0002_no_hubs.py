from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("published_feeds", "0001_initial")]

    operations = [migrations.DeleteModel(name="RequestedFeed")]
