"""`manage.py up --demo`: news, pictures and stories on one machine, without the internet."""

import re
import sys
import urllib.request
from pathlib import Path

import pytest

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


def test_the_demo_fills_its_front_page_and_leaves_nothing_behind(demo, until):
    demo.start()
    assert until(lambda: len(pictures_of(demo)) == 5)
    page = get(demo.address).decode()
    assert len(set(re.findall(r"<bdi>([^<]+)</bdi>", page))) > 3  # feeds
    picture = picture_in(get(demo.address.rstrip("/") + pictures_of(demo)[0]))
    assert (picture.width, picture.height) == (640, 360)
    catalogue = get(f"{demo.address}catalogue/").decode()
    assert "replay.localhost" in catalogue or "Gazette" in catalogue
    assert "BBC" not in catalogue  # nothing that needs the internet
    demo.watch_family()
    assert demo.stop() == 0
    assert demo.all_gone()
    assert [path.name for path in demo.var.iterdir() if path.name.startswith("demo-")] == []


def test_a_demo_does_not_touch_servers_that_are_given(demo, tmp_path):
    demo.environment["DATABASE_URL"] = "postgresql://localhost/precious"
    demo.launch()
    assert demo.process.wait(60) == 1
    assert demo.output == "A demo has servers of its own: start it without DATABASE_URL.\n"
