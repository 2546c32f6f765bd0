from django.db import migrations

# Postings know nothing of summaries. The database notes what has another text, and keeps what a feed said of a posting
# when the words of its page take the place of that: it is the publisher's own description.
NOTES = """
CREATE FUNCTION summaries_note_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO summaries_change (posting_id) SELECT id FROM added ORDER BY id;
    RETURN NULL;
END $$;
CREATE FUNCTION summaries_note_edited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO summaries_change (posting_id)
    SELECT now.id FROM edited now JOIN former ON former.id = now.id
    WHERE (former.text_hash, former.language) IS DISTINCT FROM (now.text_hash, now.language);
    INSERT INTO summaries_teaser (posting_id, text)
    SELECT now.id, former.text FROM edited now JOIN former ON former.id = now.id
    WHERE former.extractor = '' AND now.extractor <> '' AND former.text <> '' AND former.text <> now.text
    ON CONFLICT (posting_id) DO UPDATE SET text = excluded.text;
    RETURN NULL;
END $$;
CREATE FUNCTION summaries_note_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO summaries_change (posting_id) SELECT id FROM deleted;
    RETURN NULL;
END $$;
CREATE TRIGGER summaries_note_added AFTER INSERT ON postings_posting REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION summaries_note_added();
CREATE TRIGGER summaries_note_edited AFTER UPDATE ON postings_posting
    REFERENCING NEW TABLE AS edited OLD TABLE AS former
    FOR EACH STATEMENT EXECUTE FUNCTION summaries_note_edited();
CREATE TRIGGER summaries_note_deleted AFTER DELETE ON postings_posting REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION summaries_note_deleted();
INSERT INTO summaries_change (posting_id) SELECT id FROM postings_posting ORDER BY id;
ALTER TABLE summaries_change SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
"""

FORGET = """
DROP TRIGGER summaries_note_added ON postings_posting;
DROP TRIGGER summaries_note_edited ON postings_posting;
DROP TRIGGER summaries_note_deleted ON postings_posting;
DROP FUNCTION summaries_note_added;
DROP FUNCTION summaries_note_edited;
DROP FUNCTION summaries_note_deleted;
"""


class Migration(migrations.Migration):
    dependencies = [("summaries", "0001_initial"), ("postings", "0003_extraction")]

    operations = [migrations.RunSQL(NOTES, FORGET)]
