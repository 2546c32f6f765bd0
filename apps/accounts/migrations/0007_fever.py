from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0006_looks'),
    ]

    operations = [
        migrations.AddField(
            model_name='apptoken',
            name='fever_key',
            field=models.CharField(max_length=64, null=True, unique=True),
        ),
    ]
