"""`manage.py up --demo`: news, pictures and stories on one machine, without the internet."""

import re
import sys
import urllib.request
from collections.abc import Iterable
from pathlib import Path

import pytest
import requests

from apps.reading.algorithms.picture_kinds import picture_in
from tests.portal.conftest import House

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.timeout(900)  # s; it runs all migrations, and the machine may be busy
COMMAND = [sys.executable, str(ROOT / "manage.py"), "up", "--demo"]


@pytest.fixture
def demo(make_house, tmp_path) -> House:
    return make_house(tmp_path / "var", with_cluster=False, command=COMMAND, environment={"WIREBEAT_NO_VENV": "1"})


def get(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=60) as answer:
        return answer.read()


def pictures_of(demo: House) -> list[str]:
    """Their addresses on the front page."""
    return re.findall(r'class="front-picture" src="([^"]+)"', get(demo.address).decode())


def lacks_icons(demo: House) -> bool:
    """Whether a letter stands for the icon of a feed on the front page."""
    return bool(re.search(r"<span class=.feed-icon", get(demo.address).decode()))


class Person:
    """Signs up and sends forms, like a browser without scripts."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._session = requests.Session()

    def see(self, page: str) -> str:
        return self._session.get(self.address + page, timeout=60).text

    def send(self, page: str, files: dict[str, bytes] | None = None, **fields: str) -> str:
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self.see(page))[1]
        form = fields | {"csrfmiddlewaretoken": token}
        return self._session.post(self.address + page, form, files=files, timeout=60).text


def a_list(addresses: Iterable[str]) -> bytes:
    outlines = "".join(f'<outline type="rss" text="{address}" xmlUrl="{address}"/>' for address in addresses)
    return f'<opml version="2.0"><body>{outlines}</body></opml>'.encode()


@pytest.mark.trial
def test_the_demo_fills_its_front_page_and_leaves_nothing_behind(demo, until, tmp_path):
    demo.start()
    assert until(lambda: len(pictures_of(demo)) == 5)
    assert until(lambda: not lacks_icons(demo))
    page = get(demo.address).decode()
    assert len(set(re.findall(r"<bdi>([^<]+)</bdi>", page))) > 3  # feeds
    picture = picture_in(get(demo.address.rstrip("/") + pictures_of(demo)[0]))
    assert (picture.width, picture.height) == (640, 360)
    catalogue = get(f"{demo.address}catalogue/").decode()
    assert '<span class="chip-count">40</span></h2>' in catalogue
    assert "BBC" not in catalogue  # nothing that needs the internet

    [password] = (tmp_path / "var").glob("demo-*/admin_password")
    admin = Person(demo.address)
    admin.send("accounts/login/", login="admin", password=password.read_text().strip())
    articles = admin.see("river/")  # of the feeds that the admin follows from the beginning
    assert len(set(re.findall(r"/posting/(\d+)/", articles))) >= 20
    assert {"Culture", "Science"} <= set(re.findall(r">(\w+)</", articles))

    [port] = re.findall(r"40 feeds at http://127\.0\.0\.1:(\d+)/", demo.log("demo/replay"))
    person = Person(demo.address)
    assert "What do you like to read?" in person.send(
        "accounts/signup/", username="ada", password1="a long password", password2="a long password"
    )
    unknown = a_list(f"http://s{number}.replay.localhost:{port}/feed?list" for number in range(1, 9))
    assert "<strong>8</strong> newly followed" in person.send("opml/", files={"file": unknown})
    assert until(lambda: "All 8 feeds that you follow have been checked." in person.see("welcome/news/"))
    assert "<article" in person.see("river/")
    demo.watch_family()
    assert demo.stop() == 0
    assert demo.all_gone()
    assert [path.name for path in demo.var.iterdir() if path.name.startswith("demo-")] == []


def test_a_demo_does_not_touch_servers_that_are_given(demo, tmp_path):
    demo.environment["DATABASE_URL"] = "postgresql://localhost/precious"
    demo.launch()
    assert demo.process.wait(60) == 1
    assert demo.output == "A demo has servers of its own: start it without DATABASE_URL.\n"
