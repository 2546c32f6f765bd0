import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Change',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('posting_id', models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='Outline',
            fields=[
                ('posting_id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('text_hash', models.BinaryField(max_length=16)),
                ('language', models.CharField(max_length=3)),
                ('words', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)),
            ],
            options={
                'indexes': [models.Index(fields=['language', '-posting_id'], name='summaries_outline_newest')],
            },
        ),
        migrations.CreateModel(
            name='Summary',
            fields=[
                ('pk', models.CompositePrimaryKey('posting_id', 'percent', blank=True, editable=False, primary_key=True, serialize=False)),
                ('posting_id', models.BigIntegerField()),
                ('percent', models.SmallIntegerField()),
                ('places', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=None)),
            ],
        ),
        migrations.CreateModel(
            name='Teaser',
            fields=[
                ('posting_id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('text', models.TextField()),
            ],
        ),
        migrations.CreateModel(
            name='Vocabulary',
            fields=[
                ('language', models.CharField(max_length=3, primary_key=True, serialize=False)),
                ('documents', models.IntegerField()),
                ('terms', models.BinaryField()),
                ('counted_at', models.DateTimeField()),
            ],
        ),
    ]
