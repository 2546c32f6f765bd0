"""The example of an extension, installed as its users would install it: a source kind, a channel and a service."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from apps.alerts.actions import sending
from apps.alerts.channels import all_channels
from apps.alerts.models import Message
from apps.alerts.send_to import all_services
from apps.database.registry import MissingEntry
from apps.reading.forms import RuleForm
from apps.retrieval import sandbox
from apps.sources import kinds
from apps.sources.formats.feed import Page
from apps.sources.formats.recipes import Recipe
from tests.apps.alerts.delivering import a_person, a_search, find
from tests.apps.alerts.test_webhooks import send_all
from tests.builders import NOON, a_posting, a_source

EXAMPLE = Path(__file__).parents[3] / "examples" / "extension"
STATUS = Page(b"Mail: works\n\nNews: late", "text/plain", "https://status.example/")


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """The folder of an installation; a copy is built, as setuptools writes beside what it builds."""
    folder = tmp_path_factory.mktemp("extension")
    shutil.copytree(EXAMPLE, folder / "source")
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    target = folder / "installed"
    command = [sys.executable, "-m", "pip", "install", *options, "--target", target, folder / "source"]
    subprocess.run(command, check=True, timeout=120)
    return target


@pytest.fixture
def installed(built, monkeypatch, forget) -> Path:
    monkeypatch.syspath_prepend(built)
    return built


@pytest.fixture
def forget(monkeypatch):
    """Clear the lists of registries, in this process and in those that read documents."""

    def clear():
        kinds.all_kinds.cache_clear()
        all_channels.cache_clear()
        all_services.cache_clear()
        sandbox.stop()

    clear()
    yield
    monkeypatch.undo()
    for name in [name for name in sys.modules if name.startswith("wirebeat_example")]:
        del sys.modules[name]
    clear()


def test_a_kind_reads_documents_in_the_sandbox(installed):
    assert kinds.kind_of("lines").label == "Lines of a text"
    feed = sandbox.run(kinds.read, "lines", [STATUS], Recipe())
    assert [entry.title for entry in feed.entries] == ["Mail: works", "News: late"]


@pytest.mark.django_db
def test_a_channel_has_a_setting_and_delivers(installed, receiver):
    assert "ntfy" in RuleForm().fields
    saved = a_search(name="Storms", ntfy=receiver.url("/storms"))
    find(saved, postings=[a_posting(a_source(), title="Paris floods")])
    send_all()
    [call] = receiver.taken
    assert (call.path, call.body, call.headers["title"]) == ("/storms", b"Paris floods", "Storms")
    assert Message.objects.get().state == "sent"


@pytest.mark.django_db
def test_a_service_gets_articles(installed, receiver, monkeypatch):
    monkeypatch.setattr("wirebeat_example.pinboard.ADDRESS", receiver.url("/v1/posts/add"))
    user = a_person()
    sending.add_destination(user, "pinboard", {"token": "ada:1"}, name="", now=NOON)
    sending.send(user, a_posting(url="https://news.example/1", title="Paris floods"), None, now=NOON)
    send_all()
    [call] = receiver.taken
    query = "auth_token=ada%3A1&url=https%3A%2F%2Fnews.example%2F1&description=Paris+floods"
    assert (call.method, call.path) == ("GET", f"/v1/posts/add?{query}")


def test_without_the_package_there_is_neither(forget):
    assert "lines" not in kinds.all_kinds()
    assert "ntfy" not in all_channels()
    assert "pinboard" not in all_services()


@pytest.mark.parametrize(
    ("points", "reason"),
    [
        ("lines = wirebeat_example.lines:SORT", "Repair or uninstall the extension 'lines' of wirebeat-example"),
        ("lines = wirebeat_example.none:KIND", "Repair or uninstall the extension 'lines' of wirebeat-example"),
        ("feed = wirebeat_example.lines:KIND", "Rename the extension 'feed' of wirebeat-example"),
    ],
)
def test_an_extension_that_cannot_be_used_is_named(built, tmp_path, monkeypatch, forget, points, reason):
    broken = tmp_path / "broken"
    shutil.copytree(built, broken)
    [file] = broken.glob("*.dist-info/entry_points.txt")
    file.write_text(f"[wirebeat.source_kinds]\n{points}\n")
    monkeypatch.syspath_prepend(broken)
    with pytest.raises(MissingEntry, match=reason):
        kinds.all_kinds()
