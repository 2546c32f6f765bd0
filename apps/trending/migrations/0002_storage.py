from django.db import migrations

# Arrays of slices are looked into by the database, which would otherwise have to unpack them each time.
STORAGE = """
ALTER TABLE trending_slice ALTER terms SET STORAGE EXTERNAL, ALTER counts SET STORAGE EXTERNAL;
ALTER TABLE trending_change SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
"""

# Postings and sources know nothing of trending, which notes whatever may count otherwise than it did.
NOTES = """
CREATE FUNCTION trending_note_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO trending_change (posting_id) SELECT id FROM added ORDER BY id;
    RETURN NULL;
END $$;
CREATE FUNCTION trending_note_edited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO trending_change (posting_id)
    SELECT now.id FROM edited now JOIN former ON former.id = now.id
    WHERE (former.text_hash, former.source_id, former.published_at, former.language, former.title)
        IS DISTINCT FROM (now.text_hash, now.source_id, now.published_at, now.language, now.title);
    RETURN NULL;
END $$;
CREATE FUNCTION trending_note_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO trending_change (posting_id) SELECT id FROM deleted;
    RETURN NULL;
END $$;
CREATE FUNCTION trending_note_source() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO trending_change (posting_id) SELECT id FROM postings_posting WHERE source_id = NEW.id ORDER BY id;
    RETURN NULL;
END $$;
CREATE TRIGGER trending_note_added AFTER INSERT ON postings_posting REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION trending_note_added();
CREATE TRIGGER trending_note_edited AFTER UPDATE ON postings_posting
    REFERENCING NEW TABLE AS edited OLD TABLE AS former
    FOR EACH STATEMENT EXECUTE FUNCTION trending_note_edited();
CREATE TRIGGER trending_note_deleted AFTER DELETE ON postings_posting REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION trending_note_deleted();
CREATE TRIGGER trending_note_source AFTER UPDATE ON sources_source FOR EACH ROW
    WHEN ((OLD.listed, OLD.category, OLD.language, OLD.title, OLD.stop_regex)
        IS DISTINCT FROM (NEW.listed, NEW.category, NEW.language, NEW.title, NEW.stop_regex))
    EXECUTE FUNCTION trending_note_source();
INSERT INTO trending_change (posting_id) SELECT id FROM postings_posting ORDER BY id;
"""

FORGET = """
DROP TRIGGER trending_note_added ON postings_posting;
DROP TRIGGER trending_note_edited ON postings_posting;
DROP TRIGGER trending_note_deleted ON postings_posting;
DROP TRIGGER trending_note_source ON sources_source;
DROP FUNCTION trending_note_added;
DROP FUNCTION trending_note_edited;
DROP FUNCTION trending_note_deleted;
DROP FUNCTION trending_note_source;
"""


class Migration(migrations.Migration):
    dependencies = [("trending", "0001_initial"), ("postings", "0003_extraction"), ("sources", "0004_former_addresses")]

    operations = [
        migrations.RunSQL(STORAGE, migrations.RunSQL.noop),
        migrations.RunSQL(NOTES, FORGET),
    ]
