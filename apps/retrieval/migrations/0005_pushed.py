from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('retrieval', '0004_pages'),
    ]

    operations = [
        migrations.AlterField(
            model_name='retrieval',
            name='outcome',
            field=models.CharField(choices=[('new', 'New postings'), ('unchanged', 'Nothing new'), ('not_modified', 'Not modified (304)'), ('deferred', 'Deferred: its host was busy'), ('throttled', 'Asked to slow down'), ('refused', 'Not allowed'), ('failed', 'Failed'), ('not_a_feed', 'Not a feed'), ('gone', 'Gone for good'), ('pushed', 'Sent by its publisher')], max_length=12),
        ),
    ]
