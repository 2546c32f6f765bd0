import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        ("postings", "0001_initial"),
        ("sources", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Folder",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("position", models.IntegerField(db_default=1000000, default=1000000)),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="children",
                        to="following.folder",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="folders", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("user", "parent", "name"), name="folder_name_unique_in_parent", nulls_distinct=False
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Follow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("title", models.CharField(blank=True, max_length=1000)),
                ("position", models.IntegerField(db_default=1000000, default=1000000)),
                (
                    "view",
                    models.CharField(blank=True, choices=[('', 'As in preferences'), ('list', 'List'), ('cards', 'Cards'), ('magazine', 'Magazine')], db_default='', default='', max_length=8),
                ),
                (
                    "full_text",
                    models.CharField(blank=True, choices=[('', 'Portal default'), ('page', 'Full text from the website if the feed has only excerpts'), ('feed', 'Text of the feed')], db_default='', default='', max_length=4),
                ),
                (
                    "images",
                    models.CharField(blank=True, choices=[('', 'As in preferences'), ('proxied', 'Through Wirebeat (private)'), ('direct', 'Directly'), ('blocked', "Don't load images")], db_default='', default='', max_length=7),
                ),
                ("muted", models.BooleanField(db_default=False, default=False)),
                ("unread_from", models.DateTimeField()),
                ("read_through", models.BigIntegerField(db_default=0, default=0)),
                ("followed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("folders", models.ManyToManyField(blank=True, related_name="follows", to="following.folder")),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="follows", to="sources.source"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="follows", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("user", "source"), name="follow_once")],
            },
        ),
        migrations.CreateModel(
            name="Mark",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("read", models.BooleanField(null=True)),
                ("starred_at", models.DateTimeField(null=True)),
                ("changed_at", models.DateTimeField()),
                ("marked_all", models.BigIntegerField(null=True)),
                ("read_changed_at", models.DateTimeField(null=True)),
                ("star_changed_at", models.DateTimeField(null=True)),
                (
                    "posting",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="marks", to="postings.posting"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="marks",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("starred_at__isnull", False)),
                        fields=["user", "-starred_at"],
                        name="mark_starred",
                    ),
                    models.Index(condition=models.Q(("read", False)), fields=["user", "posting"], name="mark_unread"),
                    models.Index(
                        condition=models.Q(("marked_all__isnull", False)),
                        fields=["user", "marked_all"],
                        name="mark_of_all",
                    ),
                ],
                "constraints": [models.UniqueConstraint(fields=("user", "posting"), name="mark_once")],
            },
        ),
        migrations.CreateModel(
            name="MarkedAll",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("marked_at", models.DateTimeField()),
                (
                    "follows",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                (
                    "moved_from",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                (
                    "moved_to",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["marked_at"], name="marked_all_oldest")],
            },
        ),
        migrations.CreateModel(
            name="Note",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.TextField()),
                ("changed_at", models.DateTimeField()),
                (
                    "posting",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="notes", to="postings.posting"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notes",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["user", "-changed_at"], name="note_latest")],
                "constraints": [models.UniqueConstraint(fields=("user", "posting"), name="note_once")],
            },
        ),
        migrations.CreateModel(
            name="OfflineChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("change_id", models.UUIDField()),
                ("outcome", models.CharField(max_length=10)),
                ("received_at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="offline_changes",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["user", "received_at"], name="offline_change_age")],
                "constraints": [models.UniqueConstraint(fields=("user", "change_id"), name="offline_change_once")],
            },
        ),
        migrations.CreateModel(
            name="Playback",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("address", models.TextField()),
                ("seconds", models.FloatField()),
                ("changed_at", models.DateTimeField()),
                (
                    "posting",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="playbacks", to="postings.posting"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="playbacks",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["user", "-changed_at"], name="playback_latest")],
                "constraints": [models.UniqueConstraint(fields=("user", "posting"), name="playback_once")],
            },
        ),
        migrations.CreateModel(
            name="Reading",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("read_at", models.DateTimeField()),
                (
                    "posting",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="readings", to="postings.posting"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="readings",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["user", "-read_at", "-posting"], name="reading_latest")],
                "constraints": [models.UniqueConstraint(fields=("user", "posting"), name="reading_once")],
            },
        ),
        migrations.CreateModel(
            name="Share",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("secret", models.CharField(max_length=43, unique=True)),
                ("shared_at", models.DateTimeField()),
                (
                    "posting",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="shares", to="postings.posting"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="shares",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("user", "posting"), name="share_once")],
            },
        ),
        migrations.CreateModel(
            name="Tag",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=50)),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tags",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("user", "name"), name="tag_once")],
            },
        ),
        migrations.CreateModel(
            name="Tagging",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tagged_at", models.DateTimeField()),
                (
                    "posting",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="taggings", to="postings.posting"
                    ),
                ),
                (
                    "tag",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="taggings",
                        to="following.tag",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tag", "posting"), name="tagging_once")],
            },
        ),
        migrations.AddField(
            model_name="tag",
            name="postings",
            field=models.ManyToManyField(related_name="tags", through="following.Tagging", to="postings.posting"),
        ),
    ]
