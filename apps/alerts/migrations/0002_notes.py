from django.db import migrations

# Postings and saved searches know nothing of alerts. The database notes what may be found anew, and which searches ask
# something else than before.
NOTES = """
CREATE FUNCTION alerts_note_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO alerts_change (posting_id) SELECT id FROM added ORDER BY id;
    RETURN NULL;
END $$;
CREATE FUNCTION alerts_note_edited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO alerts_change (posting_id)
    SELECT now.id FROM edited now JOIN former ON former.id = now.id
    WHERE (former.text_hash, former.language) IS DISTINCT FROM (now.text_hash, now.language);
    RETURN NULL;
END $$;
CREATE FUNCTION alerts_note_saved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO alerts_revision (saved_id) SELECT id FROM saved;
    RETURN NULL;
END $$;
CREATE TRIGGER alerts_note_added AFTER INSERT ON postings_posting REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION alerts_note_added();
CREATE TRIGGER alerts_note_edited AFTER UPDATE ON postings_posting
    REFERENCING NEW TABLE AS edited OLD TABLE AS former
    FOR EACH STATEMENT EXECUTE FUNCTION alerts_note_edited();
CREATE TRIGGER alerts_note_saved AFTER INSERT ON search_savedsearch REFERENCING NEW TABLE AS saved
    FOR EACH STATEMENT EXECUTE FUNCTION alerts_note_saved();
CREATE TRIGGER alerts_note_resaved AFTER UPDATE ON search_savedsearch REFERENCING NEW TABLE AS saved
    FOR EACH STATEMENT EXECUTE FUNCTION alerts_note_saved();
CREATE TRIGGER alerts_note_unsaved AFTER DELETE ON search_savedsearch REFERENCING OLD TABLE AS saved
    FOR EACH STATEMENT EXECUTE FUNCTION alerts_note_saved();
INSERT INTO alerts_revision (saved_id) SELECT id FROM search_savedsearch ORDER BY id;
ALTER TABLE alerts_change SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
"""

FORGET = """
DROP TRIGGER alerts_note_added ON postings_posting;
DROP TRIGGER alerts_note_edited ON postings_posting;
DROP TRIGGER alerts_note_saved ON search_savedsearch;
DROP TRIGGER alerts_note_resaved ON search_savedsearch;
DROP TRIGGER alerts_note_unsaved ON search_savedsearch;
DROP FUNCTION alerts_note_added;
DROP FUNCTION alerts_note_edited;
DROP FUNCTION alerts_note_saved;
"""


class Migration(migrations.Migration):
    dependencies = [("alerts", "0001_initial"), ("search", "0003_savedsearch"), ("postings", "0003_extraction")]

    operations = [migrations.RunSQL(NOTES, FORGET)]
