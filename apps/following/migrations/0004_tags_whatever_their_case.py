from django.db import migrations, models
from django.db.models.functions import Lower

# Tags that differ only in case stay apart, under other names: their owner may merge them.
RENAME = """
UPDATE following_tag tag SET name = left(name, 30) || ' (' || id || ')' WHERE EXISTS (
    SELECT FROM following_tag other
    WHERE other.user_id = tag.user_id AND lower(other.name) = lower(tag.name) AND other.id < tag.id)
"""


class Migration(migrations.Migration):
    dependencies = [("following", "0003_unread_counts")]

    operations = [
        migrations.RunSQL(RENAME, migrations.RunSQL.noop),
        migrations.RemoveConstraint("tag", "tag_once"),
        migrations.AddConstraint("tag", models.UniqueConstraint("user", Lower("name"), name="tag_once")),
    ]
