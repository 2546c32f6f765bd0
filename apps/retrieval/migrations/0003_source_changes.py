from django.db import migrations, models

# The outbox of plans: every source that may be worth another number of retrievals, or be followed no more.
OUTBOX = """
CREATE FUNCTION retrieval_note_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO retrieval_sourcechange (source_id) SELECT DISTINCT source_id FROM changed;
    RETURN NULL;
END $$;
CREATE FUNCTION retrieval_note_source() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO retrieval_sourcechange (source_id) VALUES (NEW.id);
    RETURN NULL;
END $$;
CREATE FUNCTION retrieval_note_moved_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO retrieval_sourcechange (source_id) VALUES (OLD.source_id), (NEW.source_id);
    RETURN NULL;
END $$;
CREATE TRIGGER retrieval_note_followed AFTER INSERT ON following_follow REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION retrieval_note_follows();
CREATE TRIGGER retrieval_note_unfollowed AFTER DELETE ON following_follow REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION retrieval_note_follows();
CREATE TRIGGER retrieval_note_moved_follow AFTER UPDATE ON following_follow FOR EACH ROW
    WHEN (OLD.source_id <> NEW.source_id) EXECUTE FUNCTION retrieval_note_moved_follow();
CREATE TRIGGER retrieval_note_source AFTER UPDATE ON sources_source FOR EACH ROW
    WHEN ((OLD.weight, OLD.interest, OLD.listed, OLD.always_retrieved, OLD.state, OLD.site_id, OLD.min_gap,
            OLD.clock_rate)
        IS DISTINCT FROM (NEW.weight, NEW.interest, NEW.listed, NEW.always_retrieved, NEW.state, NEW.site_id,
            NEW.min_gap, NEW.clock_rate))
    EXECUTE FUNCTION retrieval_note_source();
CREATE TRIGGER retrieval_note_new_source AFTER INSERT ON sources_source FOR EACH ROW
    WHEN (NEW.always_retrieved) EXECUTE FUNCTION retrieval_note_source();
"""
DROP_OUTBOX = "DROP FUNCTION retrieval_note_follows, retrieval_note_source, retrieval_note_moved_follow CASCADE"


class Migration(migrations.Migration):
    dependencies = [
        ("following", "0002_typesetting_and_layouts"),
        ("retrieval", "0002_retrieval_origin"),
        ("sources", "0003_icon_searches"),
    ]

    operations = [
        migrations.CreateModel(
            "SourceChange",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("source_id", models.BigIntegerField()),
            ],
        ),
        migrations.RunSQL(OUTBOX, DROP_OUTBOX),
        migrations.AddIndex(
            "schedule",
            models.Index(
                fields=["source"],
                condition=~models.Q(hub_url="") & ~models.Q(topic_url=""),
                name="schedule_with_hub",
            ),
        ),
    ]
