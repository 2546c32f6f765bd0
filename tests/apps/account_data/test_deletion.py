"""Deleting an account leaves no data."""

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from apps.account_data import actions
from apps.accounts.actions import NotPossible
from apps.accounts.models import AppToken, User
from apps.following.models import Mark
from apps.retrieval.models import Schedule
from apps.search.models import SavedSearch
from apps.sources.models import Source
from tests.apps.account_data.worlds import a_busy_person, add_what_is_not_exported
from tests.builders import NOON, a_follow, a_user

pytestmark = pytest.mark.django_db

NOT_THEIRS = {"sources", "postings", "retrieval", "contenttypes", "auth.permission", "auth.group", "stories.change"}


def models() -> list[type[Model]]:
    return [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]


def rows_by_table() -> dict[str, set[object]]:
    return {model._meta.label_lower: set(model._base_manager.values_list("pk", flat=True)) for model in models()}


def tables_with(text: str) -> set[str]:
    """Tables in which any column of any row holds the text."""
    found = set()
    with connection.cursor() as cursor:
        for model in models():
            table = connection.ops.quote_name(model._meta.db_table)
            cursor.execute(f"SELECT 1 FROM {table} AS row WHERE row::text LIKE %s LIMIT 1", [f"%{text}%"])
            if cursor.fetchone():
                found.add(model._meta.label_lower)
    return found


def pointing_to(user_id: int) -> set[str]:
    """Tables with a row that refers to the user, by a foreign key or a column named user_id."""
    found = set()
    for model in models():
        for field in model._meta.concrete_fields:
            is_key = field.is_relation and field.related_model is User
            names_people = is_key or field.attname == "user_id"
            if names_people and model._base_manager.filter(**{field.attname: user_id}).exists():
                found.add(f"{model._meta.label_lower}.{field.attname}")
    return found


def sessions_of(user_id: int) -> int:
    return sum(each.get_decoded().get("_auth_user_id") == str(user_id) for each in Session.objects.all())


def test_deletion_removes_all_data_of_a_user_and_none_of_others():
    ada, grace = a_busy_person("ada"), a_busy_person("grace")
    for person in (ada, grace):
        add_what_is_not_exported(person, Mark.objects.filter(user=person).first().posting)
    a_follow(grace, Source.objects.filter(follows__user=ada).first())
    secrets = [SavedSearch.objects.get(user=ada, name="Quakes").secret, AppToken.objects.get(user=ada).digest]
    others, ada_id = pointing_to(grace.pk), ada.pk
    assert pointing_to(ada_id) == others
    assert len(others) > 15  # or the test would check nothing
    before = rows_by_table()

    actions.delete_account(ada, now=NOON)

    assert pointing_to(ada_id) == set()
    assert sessions_of(ada_id) == 0
    for text in ("ada@mail.example", *secrets):
        assert tables_with(text) == set()
    assert tables_with('"ada"') | tables_with(",ada,") == set()
    assert pointing_to(grace.pk) == others
    assert sessions_of(grace.pk) == 2
    gone = {table: before[table] - rows for table, rows in rows_by_table().items() if before[table] - rows}
    assert not {table for table in gone if table.split(".")[0] in NOT_THEIRS or table in NOT_THEIRS}
    kept = {table for table, pks in before.items() if pks and table not in gone}
    assert {"sources.source", "postings.posting", "jobs.job", "auth.group"} <= kept


def test_sources_without_followers_are_no_longer_checked():
    ada = a_busy_person()
    shared, alone = Source.objects.filter(follows__user=ada).order_by("pk")
    a_follow(a_user(), shared)
    for source in (shared, alone):
        Schedule.objects.create(source=source, partition=0, due_at=NOON)
    actions.delete_account(ada, now=NOON)
    assert Schedule.objects.filter(source=shared, due_at__isnull=False).exists()
    assert not Schedule.objects.filter(source=alone, due_at__isnull=False).exists()


def test_a_hundred_thousand_marks_are_deleted_in_few_queries(django_assert_max_num_queries):
    ada, grace = a_user(), a_user()
    with connection.cursor() as cursor:  # of postings that are not there: only the marks matter
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(
            "INSERT INTO following_mark (user_id, posting_id, read, changed_at)"
            " SELECT person, number, true, now() FROM generate_series(1, 100000) number, unnest(%s::bigint[]) person"
            " WHERE person = %s OR number <= 10",
            [[ada.pk, grace.pk], ada.pk],
        )
        cursor.execute("SET LOCAL session_replication_role = origin")
    with django_assert_max_num_queries(60):
        actions.delete_account(ada, now=NOON)
    assert Mark.objects.count() == Mark.objects.filter(user=grace).count() == 10
    Mark.objects.all().delete()


def test_deleting_twice_is_harmless():
    ada = a_busy_person()
    again = User.objects.get(pk=ada.pk)
    actions.delete_account(ada, now=NOON)
    actions.delete_account(again, now=NOON)
    assert not User.objects.exists()


def test_the_only_administrator_cannot_be_deleted():
    admin = a_user(is_superuser=True)
    with pytest.raises(NotPossible, match="only admin"):
        actions.delete_account(admin, now=NOON)
    a_user(is_superuser=True)
    actions.delete_account(admin, now=NOON)
    assert User.objects.count() == 1


def signed_in(username: str) -> Client:
    user = User.objects.get(username=username)
    user.set_password("a long password")
    user.save()
    client = Client()
    client.post(reverse("account_login"), {"login": username, "password": "a long password"})
    return client


def test_a_user_deletes_their_account():
    a_busy_person("ada")
    client = signed_in("ada")
    client.post(reverse("account_reauthenticate"), {"password": "a long password"})
    page = client.post(reverse("delete_account"), {"username": "adam"})
    assert "That is not your username." in page.text
    assert User.objects.filter(username="ada").exists()
    answer = client.post(reverse("delete_account"), {"username": "ada"}, follow=True)
    assert "Your account and all your data have been deleted" in answer.text
    assert not User.objects.filter(username="ada").exists()
    assert client.get(reverse("account")).status_code == 302


def test_deletion_requires_the_password():
    a_busy_person("ada")
    client = Client()
    client.force_login(User.objects.get())
    answer = client.post(reverse("delete_account"), {"username": "ada"})
    assert answer.url.startswith(reverse("account_reauthenticate"))
    assert User.objects.exists()


def test_deletion_in_the_admin_removes_all_data(client):
    admin, ada = a_user("root", is_staff=True, is_superuser=True), a_busy_person()
    client.force_login(admin)
    address = reverse("admin:accounts_user_delete", args=[ada.pk])
    page = client.get(address)
    assert "everything that is theirs" in page.text
    client.post(address, {"post": "yes"})
    assert not User.objects.filter(pk=ada.pk).exists()
