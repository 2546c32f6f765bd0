from django.db import migrations

# What people read is small; vectors are read whole or not at all, and rewritten often: out of the way, not compressed.
STORAGE = """
ALTER TABLE stories_member ALTER terms SET STORAGE EXTERNAL, ALTER weights SET STORAGE EXTERNAL,
    ALTER fingerprint SET STORAGE EXTERNAL;
ALTER TABLE stories_centroid ALTER terms SET STORAGE EXTERNAL, ALTER weights SET STORAGE EXTERNAL;
ALTER TABLE stories_change SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
"""

# Postings know nothing of stories, which note whatever may belong elsewhere than it did.
NOTES = """
CREATE FUNCTION stories_note_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO stories_change (posting_id, published_at) SELECT id, published_at FROM added ORDER BY published_at, id;
    RETURN NULL;
END $$;
CREATE FUNCTION stories_note_edited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO stories_change (posting_id, published_at)
    SELECT now.id, now.published_at FROM edited now JOIN former ON former.id = now.id
    WHERE (former.text_hash, former.source_id) IS DISTINCT FROM (now.text_hash, now.source_id);
    RETURN NULL;
END $$;
CREATE FUNCTION stories_note_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO stories_change (posting_id, published_at) SELECT id, published_at FROM deleted;
    RETURN NULL;
END $$;
CREATE TRIGGER stories_note_added AFTER INSERT ON postings_posting REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION stories_note_added();
CREATE TRIGGER stories_note_edited AFTER UPDATE ON postings_posting REFERENCING NEW TABLE AS edited OLD TABLE AS former
    FOR EACH STATEMENT EXECUTE FUNCTION stories_note_edited();
CREATE TRIGGER stories_note_deleted AFTER DELETE ON postings_posting REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION stories_note_deleted();
INSERT INTO stories_change (posting_id, published_at)
SELECT id, published_at FROM postings_posting WHERE published_at > now() - interval '28 days';
"""

FORGET = """
DROP TRIGGER stories_note_added ON postings_posting;
DROP TRIGGER stories_note_edited ON postings_posting;
DROP TRIGGER stories_note_deleted ON postings_posting;
DROP FUNCTION stories_note_added;
DROP FUNCTION stories_note_edited;
DROP FUNCTION stories_note_deleted;
"""


class Migration(migrations.Migration):
    dependencies = [("stories", "0001_initial"), ("postings", "0003_extraction")]

    operations = [
        migrations.RunSQL(STORAGE, migrations.RunSQL.noop),
        migrations.RunSQL(NOTES, FORGET),
    ]
