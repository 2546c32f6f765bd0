from django.db import migrations

# Arrays are not compressed, since most are read far more often than written. Terms are counted anew at each sealing:
# there is room for that on their pages. `largest` is in the index, so that bounds are read without the rows.
STORAGE = """
ALTER TABLE search_term SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE search_change SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
ALTER TABLE search_row SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE search_row ALTER postings SET STORAGE EXTERNAL;
ALTER TABLE search_row DROP CONSTRAINT search_row_pkey;
ALTER TABLE search_row ADD PRIMARY KEY (term_id, generation_id) INCLUDE (largest);
ALTER TABLE search_document ALTER sequence SET STORAGE EXTERNAL, ALTER pairs SET STORAGE EXTERNAL;
ALTER TABLE search_generation ALTER dead SET STORAGE EXTERNAL, ALTER posting_ids SET STORAGE EXTERNAL,
    ALTER source_ids SET STORAGE EXTERNAL, ALTER published SET STORAGE EXTERNAL;
"""

# Postings know nothing of search, which has to know within two seconds what was added, edited and deleted, whoever did
# it. To compare all postings with all documents takes seconds by now, so the database itself notes what to look at; what
# has really changed is then found by hash.
NOTES = """
CREATE FUNCTION search_note_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_change (posting_id, anew) SELECT id, false FROM added ORDER BY published_at, id;
    RETURN NULL;
END $$;
CREATE FUNCTION search_note_edited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_change (posting_id, anew)
    SELECT now.id, false FROM edited now JOIN former ON former.id = now.id
    WHERE (former.text_hash, former.source_id, former.published_at)
        IS DISTINCT FROM (now.text_hash, now.source_id, now.published_at);
    RETURN NULL;
END $$;
CREATE FUNCTION search_note_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_change (posting_id, anew) SELECT id, false FROM deleted;
    RETURN NULL;
END $$;
CREATE TRIGGER search_note_added AFTER INSERT ON postings_posting REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION search_note_added();
CREATE TRIGGER search_note_edited AFTER UPDATE ON postings_posting REFERENCING NEW TABLE AS edited OLD TABLE AS former
    FOR EACH STATEMENT EXECUTE FUNCTION search_note_edited();
CREATE TRIGGER search_note_deleted AFTER DELETE ON postings_posting REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION search_note_deleted();
INSERT INTO search_change (posting_id, anew) SELECT id, true FROM postings_posting ORDER BY published_at, id;
"""

FORGET = """
DROP TRIGGER search_note_added ON postings_posting;
DROP TRIGGER search_note_edited ON postings_posting;
DROP TRIGGER search_note_deleted ON postings_posting;
DROP FUNCTION search_note_added;
DROP FUNCTION search_note_edited;
DROP FUNCTION search_note_deleted;
"""


class Migration(migrations.Migration):
    dependencies = [("search", "0001_initial"), ("postings", "0003_extraction")]

    operations = [
        migrations.RunSQL(STORAGE, migrations.RunSQL.noop),
        migrations.RunSQL(NOTES, FORGET),
    ]
