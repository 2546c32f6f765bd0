"""Values of the environment are read as they are meant, or stop the start."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from portal import environment


def test_options_of_the_storage_come_as_json(monkeypatch, tmp_path):
    default = {"location": "/somewhere"}
    assert environment.options("WIREBEAT_NOT_SET", default) == default
    monkeypatch.setenv("WIREBEAT_SET", '{"bucket_name": "news", "querystring_auth": false}')
    assert environment.options("WIREBEAT_SET", default) == {"bucket_name": "news", "querystring_auth": False}
    secret = tmp_path / "options"
    secret.write_text('{"secret_key": "x"}', "utf-8")
    monkeypatch.setenv("WIREBEAT_KEPT_FILE", str(secret))
    assert environment.options("WIREBEAT_KEPT", default) == {"secret_key": "x"}


@pytest.mark.parametrize("value", ["n@b.example", "Wirebeat <n@b.example>", '"B, C" <n@b.example>', " <n@b.example> "])
def test_a_sender_may_have_a_name(monkeypatch, value):
    monkeypatch.setenv("WIREBEAT_SET", value)
    assert environment.mail_address("WIREBEAT_SET", "") == value.strip()


@pytest.mark.parametrize("value", ["B", "n@b.example>", "B <n@b.example", "<n@b.example> B", "a n@b.example", "n@b@c"])
def test_what_is_no_address_of_a_sender_stops_the_start(monkeypatch, value):
    monkeypatch.setenv("WIREBEAT_SET", value)
    with pytest.raises(environment.BadEnvironment, match="expected an address such as"):
        environment.mail_address("WIREBEAT_SET", "")


@pytest.mark.parametrize("value", ["s3cret", '["s3cret"]', "{'s3cret': 1}", '"s3cret"'])
def test_options_that_are_no_json_object_stop_the_start_without_being_shown(monkeypatch, value):
    monkeypatch.setenv("WIREBEAT_SET", value)
    with pytest.raises(environment.BadEnvironment, match=r"WIREBEAT_SET: expected a JSON object") as raised:
        environment.options("WIREBEAT_SET", {})
    assert "s3cret" not in str(raised.value)


def test_open_hosts_are_none_by_default_and_a_wrong_one_stops_the_start_in_one_line(monkeypatch):
    assert environment.open_hosts("WIREBEAT_NOT_SET") == []
    monkeypatch.setenv("WIREBEAT_SET", "nas.lan:8080, 10.0.0.0/8")
    assert environment.open_hosts("WIREBEAT_SET") == ["nas.lan:8080", "10.0.0.0/8"]
    started = subprocess.run(
        [sys.executable, "manage.py", "doctor"],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"WIREBEAT_OPEN_HOSTS": "nas.lan,*.lan", "WIREBEAT_NO_VENV": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert started.returncode == 1
    [line] = started.stderr.splitlines()
    assert line.startswith("WIREBEAT_OPEN_HOSTS: '*.lan' opens nothing: expected")


def test_a_choice_is_one_of_a_few_words(monkeypatch):
    assert environment.choice("WIREBEAT_NOT_SET", "auto", "on", "off") == "auto"
    monkeypatch.setenv("WIREBEAT_SET", "Off")
    assert environment.choice("WIREBEAT_SET", "auto", "on", "off") == "off"
    monkeypatch.setenv("WIREBEAT_SET", "maybe")
    with pytest.raises(environment.BadEnvironment, match="WIREBEAT_SET='maybe': expected auto, on, off"):
        environment.choice("WIREBEAT_SET", "auto", "on", "off")


@pytest.mark.parametrize(
    ("value", "server"),
    [
        ("", ("", 0, "", "", False, False)),
        ("smtp://mail.example", ("mail.example", 25, "", "", False, False)),
        (
            "smtp+tls://me%40mail.example:s3:cret@mail.example",
            ("mail.example", 587, "me@mail.example", "s3:cret", True, False),
        ),
        ("smtps://me:x@[::1]:4465/", ("::1", 4465, "me", "x", False, True)),
    ],
)
def test_a_mail_server_comes_as_an_address(monkeypatch, value, server):
    monkeypatch.setenv("WIREBEAT_SET", value)
    assert environment.mail_server("WIREBEAT_SET") == server


@pytest.mark.parametrize(
    "value",
    ["mail.example", "http://me:s3cret@mail.example", "smtp://:s3cret@", "smtp://x:y:s3cret@h:port", "smtp://h/s3cret"],
)
def test_a_mail_server_that_cannot_be_meant_stops_the_start_without_being_shown(monkeypatch, value):
    monkeypatch.setenv("WIREBEAT_SET", value)
    with pytest.raises(environment.BadEnvironment, match="WIREBEAT_SET: expected smtp://") as raised:
        environment.mail_server("WIREBEAT_SET")
    assert "s3cret" not in str(raised.value)


ACME = {"id": "acme", "name": "Acme", "server": "https://id.acme.example/", "client_id": "wirebeat", "secret": "s3cret"}


def test_openid_providers_come_as_json(monkeypatch):
    assert environment.identity_providers("WIREBEAT_NOT_SET") is None
    monkeypatch.setenv("WIREBEAT_SET", json.dumps(ACME))
    [app] = environment.identity_providers("WIREBEAT_SET")
    assert (app["provider_id"], app["settings"]["server_url"]) == ("acme", "https://id.acme.example")
    monkeypatch.setenv("WIREBEAT_SET", json.dumps([ACME, ACME | {"id": "other", "server": "http://localhost:8080"}]))
    assert [app["provider_id"] for app in environment.identity_providers("WIREBEAT_SET")] == ["acme", "other"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("acme s3cret", "expected a JSON object"),
        (json.dumps(["s3cret"]), "provider 1: expected a JSON object"),
        (json.dumps(ACME | {"scope": "s3cret"}), "scope means nothing"),
        (json.dumps({**ACME, "client_id": ""}), "client_id must be given"),
        (json.dumps({key: ACME[key] for key in ("id", "secret")}), "client_id, name, server must be given"),
        (json.dumps(ACME | {"id": "A/s3cret"}), "id is part of an address"),
        (json.dumps(ACME | {"server": "http://s3cret.example"}), "server is an address with https"),
        (json.dumps(ACME | {"server": "https://u:s3cret@id.example"}), "server is an address with https"),
        (json.dumps(ACME | {"server": "https://[s3cret"}), "server is an address with https"),
        (json.dumps([ACME, ACME]), "two providers have the same id"),
    ],
)
def test_a_provider_that_cannot_be_meant_stops_the_start_without_its_secret(monkeypatch, value, message):
    monkeypatch.setenv("WIREBEAT_SET", value)
    with pytest.raises(environment.BadEnvironment, match=message) as raised:
        environment.identity_providers("WIREBEAT_SET")
    assert "s3cret" not in str(raised.value)


def test_the_address_of_the_portal_may_have_a_path(monkeypatch):
    monkeypatch.setenv("WIREBEAT_SET", "https://example.org/news/")
    assert environment.site("WIREBEAT_SET", "") == "https://example.org/news"
    monkeypatch.setenv("WIREBEAT_SET", "https://example.org/news?x=1")
    with pytest.raises(environment.BadEnvironment, match=r"https://example\.org/news"):
        environment.site("WIREBEAT_SET", "")


def test_a_time_zone_is_one_of_the_tz_database(monkeypatch):
    monkeypatch.setenv("WIREBEAT_SET", "Europe/Lisbon")
    assert environment.time_zone("WIREBEAT_SET", "UTC") == "Europe/Lisbon"
    monkeypatch.setenv("WIREBEAT_SET", "Atlantis")
    with pytest.raises(environment.BadEnvironment, match="Atlantis"):
        environment.time_zone("WIREBEAT_SET", "UTC")
