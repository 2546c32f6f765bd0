from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("alerts", "0001_initial")]

    operations = [
        migrations.AddIndex(
            "percolatorquery",
            models.Index(
                fields=["saved"],
                condition=models.Q(refusal="")
                & ~models.Q(weighed=models.F("query"))
                & ~models.Q(query=""),
                name="percolator_query_unweighed",
            ),
        ),
    ]
