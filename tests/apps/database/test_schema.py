"""The tables that the migrations make are those of the models, and what models cannot say is listed here."""

import itertools
import re

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection

pytestmark = pytest.mark.django_db

COLUMNS = """
SELECT class.relname, attname, format_type(atttypid, atttypmod), attnotnull, attidentity,
    (SELECT collname FROM pg_collation WHERE oid = attcollation), pg_get_expr(adbin, adrelid)
FROM pg_attribute JOIN pg_class class ON class.oid = attrelid
    LEFT JOIN pg_attrdef ON (adrelid, adnum) = (attrelid, attnum)
WHERE relnamespace = %(schema)s::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
"""
INDEXES = """
SELECT class.relname, indexed.relname, pg_get_indexdef(indexrelid)
FROM pg_index JOIN pg_class class ON class.oid = indrelid JOIN pg_class indexed ON indexed.oid = indexrelid
WHERE class.relnamespace = %(schema)s::regnamespace
"""
CONSTRAINTS = """
SELECT class.relname, conname, contype::text, pg_get_constraintdef(con.oid)
FROM pg_constraint con JOIN pg_class class ON class.oid = conrelid
WHERE class.relnamespace = %(schema)s::regnamespace
"""
# The primary key of the migration includes a column, which Django has no option for.
WRITTEN_BY_HAND = {"search_row_pkey"}


def facts(namespace, statement, tables):
    """What the catalog says of these tables in a schema, without the schema's name."""
    with connection.cursor() as cursor:
        cursor.execute(statement, {"schema": namespace})
        return {
            tuple(re.sub(rf"\b{namespace}\.", "", value) if isinstance(value, str) else value for value in row)
            for row in cursor.fetchall()
            if row[0] in tables and row[1] not in WRITTEN_BY_HAND
        }


@pytest.fixture(scope="module")
def models():
    """The models of this project, with the tables between them."""
    ours = [config for config in apps.get_app_configs() if config.name.startswith(("apps.", "portal"))]
    return [model for config in ours for model in config.get_models(include_auto_created=True) if model._meta.managed]


@pytest.fixture
def of_models(models):
    """A second schema, whose tables are made from the models and not by migrations."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA of_models; SET LOCAL search_path TO of_models, public")
    with connection.schema_editor() as editor:
        for model in models:
            if not model._meta.auto_created:  # those are made with the models that they join
                editor.create_model(model)
    return "of_models"


@pytest.mark.parametrize("statement", [COLUMNS, INDEXES, CONSTRAINTS], ids=["columns", "indexes", "constraints"])
def test_migrations_make_what_the_models_say(models, of_models, statement):
    tables = {model._meta.db_table for model in models}
    expected, found = facts(of_models, statement, tables), facts("public", statement, tables)
    assert len(expected) > len(tables) // 2
    assert (found - expected, expected - found) == (set(), set())


def test_no_change_of_a_model_lacks_a_migration():
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)  # exits otherwise


def test_triggers_options_and_sequences_beyond_models_are_in_the_database():
    triggers = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
    options = "SELECT relname FROM pg_class WHERE reloptions IS NOT NULL AND relnamespace = 'public'::regnamespace"
    storage = (
        "SELECT attrelid::regclass || '.' || attname FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid"
        " JOIN pg_class ON pg_class.oid = attrelid WHERE attstorage <> typstorage AND relkind = 'r'"
        " AND relnamespace = 'public'::regnamespace"
    )
    sequences = "SELECT sequencename FROM pg_sequences WHERE sequencename NOT LIKE '%_id_seq'"

    def names(statement):
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return {name for (name,) in cursor.fetchall()}

    of_postings = itertools.product(("search", "stories", "summaries", "trending"), ("added", "edited", "deleted"))
    outboxes = {f"{app}_note_{event}" for app, event in of_postings} | {"trending_note_source"}
    outboxes |= {f"alerts_note_{event}" for event in ("added", "edited", "saved", "resaved", "unsaved")}
    outboxes |= {
        f"retrieval_note_{event}" for event in ("source", "new_source", "followed", "moved_follow", "unfollowed")
    }
    of_states = ("marked", "remarked", "arranged", "deleted", "followed", "unfollowed", "moved")
    states = {f"following_note_{event}" for event in of_states}
    assert names(triggers) == outboxes | states | {"sources_keep_audit"}
    assert names(sequences) == {"search_revision"}
    changes = {f"{app}_outboxrow" for app in ("alerts", "search", "stories", "summaries", "trending")}
    changes.add("fingerprint_bands")  # of this one the model says so
    assert names(options) == changes | {"postings_posting", "retrieval_schedule", "search_row", "search_term"}
    assert names(storage) == {
        *("search_row.postings", "search_document.sequence", "search_document.pairs", "search_generation.dead"),
        *("search_generation.posting_ids", "search_generation.source_ids", "search_generation.published"),
        *("stories_member.terms", "stories_member.weights", "stories_member.fingerprint"),
        *("stories_centroid.terms", "stories_centroid.weights", "trending_slice.terms", "trending_slice.counts"),
    }
