from django.contrib.postgres.operations import CreateCollation
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("following", "0001_initial")]

    operations = [CreateCollation("natural", provider="icu", locale="und-u-kn-true")]
