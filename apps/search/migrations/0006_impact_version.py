from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('search', '0005_head_revision'),
    ]

    operations = [
        migrations.AddField(
            model_name='generation',
            name='impact_version',
            field=models.TextField(default='BM25 k1=1.2 b=0.6'),
            preserve_default=False,
        ),
    ]
