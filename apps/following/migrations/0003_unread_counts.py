import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# A mark on a posting, and what is known of its copies, may change whether these are unread, in any feed.
CHANGES = """
CREATE FUNCTION following_note_marked() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    readers bigint[];
    postings bigint[];
BEGIN
    IF TG_OP = 'INSERT' THEN
        SELECT array_agg(user_id), array_agg(posting_id) INTO readers, postings FROM marked WHERE read IS NOT NULL;
    ELSE
        SELECT array_agg(marked.user_id), array_agg(marked.posting_id) INTO readers, postings
        FROM marked JOIN former USING (id) WHERE marked.read IS DISTINCT FROM former.read;
    END IF;
    IF readers IS NOT NULL THEN
        INSERT INTO following_statechange (reader, source, amount)
        SELECT reader, source_id, 1 FROM (
            SELECT reader, source_id FROM unnest(readers, postings) changed (reader, posting_id)
            JOIN postings_posting posting ON posting.id = changed.posting_id
            UNION
            SELECT reader, twin.source_id FROM unnest(readers, postings) changed (reader, posting_id)
            JOIN postings_posting posting ON posting.id = changed.posting_id
            JOIN postings_posting twin ON twin.first_copy = posting.first_copy
        ) states;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER following_note_marked AFTER INSERT ON following_mark REFERENCING NEW TABLE AS marked
    FOR EACH STATEMENT EXECUTE FUNCTION following_note_marked();
CREATE TRIGGER following_note_remarked AFTER UPDATE ON following_mark
    REFERENCING NEW TABLE AS marked OLD TABLE AS former
    FOR EACH STATEMENT EXECUTE FUNCTION following_note_marked();

CREATE FUNCTION following_note_arranged() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sources bigint[];
    articles bigint[];
BEGIN
    IF TG_OP = 'DELETE' THEN
        SELECT array_agg(DISTINCT source_id), array_agg(DISTINCT first_copy) INTO sources, articles FROM former;
    ELSE
        SELECT array_agg(DISTINCT either.source_id), array_agg(DISTINCT either.first_copy) INTO sources, articles
        FROM arranged JOIN former USING (id), LATERAL (
            VALUES (arranged.source_id, arranged.first_copy), (former.source_id, former.first_copy)
        ) either (source_id, first_copy)
        WHERE (arranged.source_id, arranged.first_copy, arranged.published_at)
            IS DISTINCT FROM (former.source_id, former.first_copy, former.published_at);
    END IF;
    IF sources IS NOT NULL THEN
        INSERT INTO following_statechange (reader, source, amount)
        SELECT 0, source_id, 1 FROM (
            SELECT unnest(sources) AS source_id
            UNION SELECT source_id FROM postings_posting WHERE first_copy = ANY(articles)
        ) states;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER following_note_arranged AFTER UPDATE ON postings_posting
    REFERENCING NEW TABLE AS arranged OLD TABLE AS former
    FOR EACH STATEMENT EXECUTE FUNCTION following_note_arranged();
CREATE TRIGGER following_note_deleted AFTER DELETE ON postings_posting REFERENCING OLD TABLE AS former
    FOR EACH STATEMENT EXECUTE FUNCTION following_note_arranged();

CREATE FUNCTION following_note_followed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO following_statechange (reader, source, amount) SELECT DISTINCT user_id, 0, 1 FROM follows;
    RETURN NULL;
END $$;
CREATE TRIGGER following_note_followed AFTER INSERT ON following_follow REFERENCING NEW TABLE AS follows
    FOR EACH STATEMENT EXECUTE FUNCTION following_note_followed();
CREATE TRIGGER following_note_unfollowed AFTER DELETE ON following_follow REFERENCING OLD TABLE AS follows
    FOR EACH STATEMENT EXECUTE FUNCTION following_note_followed();

CREATE FUNCTION following_note_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO following_statechange (reader, source, amount)
    SELECT user_id, source_id, 1 FROM (
        -- Of a new follow all earlier postings are passed over: finding their copies would take long.
        SELECT follows.user_id, 0 AS source_id FROM follows JOIN former USING (id)
        WHERE (follows.user_id, follows.source_id, follows.unread_from)
            IS DISTINCT FROM (former.user_id, former.source_id, former.unread_from)
            OR follows.read_through <> former.read_through AND 0 IN (follows.read_through, former.read_through)
        UNION
        SELECT follows.user_id, follows.source_id FROM follows JOIN former USING (id)
        WHERE follows.read_through <> former.read_through
        UNION
        SELECT follows.user_id, twin.source_id FROM follows JOIN former USING (id)
        JOIN postings_posting posting ON posting.source_id = follows.source_id AND posting.first_copy IS NOT NULL
            AND posting.id > least(follows.read_through, former.read_through)
            AND posting.id <= greatest(follows.read_through, former.read_through)
        JOIN postings_posting twin ON twin.first_copy = posting.first_copy
        WHERE 0 NOT IN (follows.read_through, former.read_through)
    ) states;
    RETURN NULL;
END $$;
CREATE TRIGGER following_note_moved AFTER UPDATE ON following_follow
    REFERENCING NEW TABLE AS follows OLD TABLE AS former
    FOR EACH STATEMENT EXECUTE FUNCTION following_note_moved();
"""
DROP_CHANGES = """
DROP FUNCTION following_note_marked, following_note_arranged, following_note_followed, following_note_moved CASCADE
"""


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("following", "0002_typesetting_and_layouts"),
        ("postings", "0004_bands_at_once"),
    ]

    operations = [
        migrations.CreateModel(
            name="StateChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reader", models.BigIntegerField()),
                ("source", models.BigIntegerField()),
                ("amount", models.IntegerField()),
            ],
            options={
                "indexes": [models.Index(fields=["reader", "source"], include=("amount",), name="state_version")],
            },
        ),
        migrations.CreateModel(
            name="UnreadCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("source", models.BigIntegerField()),
                ("version", models.BigIntegerField()),
                ("through", models.BigIntegerField()),
                ("single", models.IntegerField()),
                ("copied", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("user", "source"), name="unread_count_once")],
            },
        ),
        migrations.RunSQL(CHANGES, DROP_CHANGES),
    ]
