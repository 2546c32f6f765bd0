from django.db import migrations


class Migration(migrations.Migration):
    """Portals that made the index before it was written at once keep its list of pending entries until now."""

    dependencies = [("postings", "0003_copies")]

    operations = [
        migrations.RunSQL("ALTER INDEX fingerprint_bands SET (fastupdate = off)", migrations.RunSQL.noop),
        migrations.RunSQL("SELECT gin_clean_pending_list('fingerprint_bands')", migrations.RunSQL.noop),
    ]
