from django.db import migrations


class Migration(migrations.Migration):
    """Summarize all postings again, in the background: summaries of the default length are new."""

    dependencies = [("summaries", "0001_initial")]

    operations = [
        migrations.RunSQL(
            "UPDATE summaries_outline SET text_hash = '';"
            "INSERT INTO summaries_outboxrow (posting_id) SELECT posting_id FROM summaries_outline",
            migrations.RunSQL.noop,
        )
    ]
