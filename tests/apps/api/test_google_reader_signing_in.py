"""ClientLogin, and the addresses under which clients look for it and for the rest."""

import pytest
from django.test import Client

from apps.accounts.actions import make_token, revoke_token
from apps.api.views.access import WRONG_SECRETS
from tests.apps.api.google_reader import Program, quoted
from tests.builders import NOON, a_follow, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db
LOGIN = "/accounts/ClientLogin"


@pytest.fixture
def person():
    return a_user("ada", email="ada@example.org")


@pytest.fixture
def secret(person):
    return make_token(person, "phone", ["read", "write"], now=NOON)[1]


def signed_in(answer) -> dict[str, str]:
    return dict(line.split("=", 1) for line in answer.content.decode().splitlines())


@pytest.mark.parametrize("name", ["ada", "ADA", "ada@example.org"])
def test_a_client_signs_in_and_sends_the_auth_value(client, person, secret, name):
    answer = client.post(LOGIN, {"Email": name, "Passwd": secret, "service": "reader"})
    assert answer.status_code == 200
    assert signed_in(answer) == {"SID": f"ada/{secret}", "LSID": "null", "Auth": f"ada/{secret}"}
    result = client.get(
        "/reader/api/0/user-info", headers={"Authorization": f"GoogleLogin auth={signed_in(answer)['Auth']}"}
    )
    assert result.json()["userName"] == "ada"
    assert result.json()["userId"] == str(person.pk)


def test_a_client_can_sign_in_with_json(client, secret):
    result = client.post(LOGIN, {"Email": "ada", "Passwd": secret, "output": "json"})
    assert result.json() == {"SID": f"ada/{secret}", "LSID": "null", "Auth": f"ada/{secret}"}
    assert result["Cache-Control"] == "no-store"


def test_a_token_in_the_address_is_refused(client, secret):
    data = {"Email": "ada", "Passwd": secret}
    assert client.get(LOGIN, data).status_code == 405
    answer = client.post(LOGIN, query_params=data)
    assert (answer.status_code, secret in answer.text) == (400, False)


def test_newsboats_own_words_are_understood(client, secret):
    body = f"service=reader&Email=ada&Passwd={quoted(secret)}&source=newsboat0.000000&accountType=HOSTED_OR_GOOGLE&continue=http://www.google.com/"
    answer = client.post(LOGIN, body, content_type="application/x-www-form-urlencoded")
    assert f"\nAuth=ada/{secret}\n" in answer.content.decode()


def test_liferea_fetches_items_with_the_auth_value_as_t_and_no_header(client, person, secret):
    posting = a_posting(source := a_source())
    a_follow(person, source)
    address, form = "/reader/api/0/stream/items/contents", "application/x-www-form-urlencoded"
    body = f"output=json&mediaRss=true&T=ada/{secret}&i={posting.pk}"
    [item] = client.post(address, body, content_type=form).json()["items"]
    assert item["title"] == posting.title
    for wrong in (f"T=eve/{secret}", "T=ada/wb_guessed", f"T={secret}", "T="):
        assert client.post(address, f"{wrong}&i={posting.pk}", content_type=form).status_code == 401
    query = f"{address}?T=ada/{secret}&i={posting.pk}"
    assert client.post(query, "", content_type=form).status_code == 401, "addresses are logged"


@pytest.mark.parametrize(("name", "passwd"), [("ada", "wb_guessed"), ("ada", ""), ("eve", None), ("", "")])
def test_wrong_tokens_and_those_of_others_open_nothing(client, secret, name, passwd):
    a_user("eve")
    answer = client.post(LOGIN, {"Email": name, "Passwd": secret if passwd is None else passwd})
    assert (answer.status_code, answer.content) == (401, b"Error=BadAuthentication\n")


def test_a_password_is_no_token(client, person):
    person.set_password("correct horse")
    person.save()
    assert client.post(LOGIN, {"Email": "ada", "Passwd": "correct horse"}).status_code == 401


def test_wrong_tokens_are_limited_and_the_valid_one_still_works(client, secret):
    for _ in range(WRONG_SECRETS):
        assert client.post(LOGIN, {"Email": "ada", "Passwd": "wb_guessed"}).status_code == 401
    assert client.post(LOGIN, {"Email": "ada", "Passwd": "wb_guessed"}).status_code == 429
    assert client.post(LOGIN, {"Email": "ada", "Passwd": secret}).status_code == 200


def test_the_auth_value_is_refused_once_the_token_is_revoked(client, person, secret):
    auth = signed_in(client.post(LOGIN, {"Email": "ada", "Passwd": secret}))["Auth"]
    revoke_token(person, person.app_tokens.get().pk)
    assert client.get("/reader/api/0/token", headers={"Authorization": f"GoogleLogin auth={auth}"}).status_code == 401


# --- addresses --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("begin", ["", "/", "/api/greader.php", "//api/greader.php/", "/api/greader.php" * 2])
def test_clients_prefixes_of_addresses_are_accepted(begin):
    person = a_user()
    source = a_source()
    a_follow(person, source)
    posting = a_posting(source)
    program = Program(person)
    login = Client().post(f"http://testserver{begin}{LOGIN}", {"Email": person.username, "Passwd": program.secret})
    assert login.status_code == 200
    assert program.get(f"{begin}/reader/api/0/token").status_code == 200
    for stream in (f"feed/{source.pk}", quoted(f"feed/{source.pk}"), quoted(f"feed/{source.url}")):
        result = program.json(f"{begin}/reader/api/0/stream/contents/{stream}")
        assert [item["title"] for item in result["items"]] == [posting.title]
        assert program.get(f"{begin}/reader/atom/{stream}?n=20").status_code == 200


def test_clients_of_freshrss_are_greeted():
    assert Program(a_user()).get("/api/greader.php").content == b"OK"


def test_a_token_of_changes_has_the_length_that_clients_expect():
    assert len(Program(a_user()).get("token").content.decode().strip()) == 57


def test_unsupported_lists_are_empty():
    program = Program(a_user("ada"))
    assert program.json("preference/list") == {"prefs": []}
    assert program.json("preference/stream/list") == {"streamprefs": {}}
    assert [friend["displayName"] for friend in program.json("friend/list")["friends"]] == ["ada"]
