"""The pictures of the documentation."""

import struct
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.utils import timezone
from PIL import Image

from apps.accounts.models import User
from tests.browser.conftest import CHROMIUM, WHERE_TO_GET_IT
from tests.builders import a_posting, a_source

PAPER = (250, 249, 246)  # static/css/base.css

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(CHROMIUM is None, reason=WHERE_TO_GET_IT),
]


def take_screenshots(url: str, folder: Path) -> None:
    try:
        call_command("screenshots", url=url, to=folder / "docs", front=folder / "front")
    finally:
        connection.close()


def test_the_pictures_are_taken_and_the_account_for_them_is_deleted(live_server, tmp_path):
    source = a_source(url="http://s1.replay.localhost:8700/feed", language="en", category="World", listed=True)
    a_posting(source, title="A contract for the bridge", published_at=timezone.now() - timedelta(hours=1))
    with ThreadPoolExecutor(1) as pool:  # Playwright runs once per thread, and here already for the other tests
        pool.submit(take_screenshots, live_server.url, tmp_path).result()
    taken, front = (sorted((tmp_path / folder).iterdir()) for folder in ("docs", "front"))
    assert [file.name for file in taken] == ["articles.png", "plan.png", "search.png"]
    assert [file.name for file in front] == ["reader-dark.webp", "reader-light.webp"]
    for file in front:
        assert Image.open(file).size == (1280, 800)
        assert file.stat().st_size <= 60_000  # bytes
    for file in taken:
        assert struct.unpack(">II", file.read_bytes()[16:24]) == (1280, 800)
        assert PAPER in {color for _, color in Image.open(file).convert("RGB").getcolors()}
    assert not User.objects.exists()


def test_without_a_demo_it_says_how_to_start_one(live_server, tmp_path):
    with pytest.raises(CommandError, match="no replayed feeds"):
        call_command("screenshots", url=live_server.url, to=tmp_path, front=tmp_path)


def show_pages(url: str, folder: Path, *pages: str) -> None:
    try:
        call_command("contact_sheets", *pages, url=url, to=folder)
    finally:
        connection.close()


def test_a_page_is_shown_in_three_widths_by_day_and_by_night(live_server, tmp_path):
    source = a_source(url="http://s1.replay.localhost:8700/feed", language="en", category="World", listed=True)
    a_posting(source, title="A contract for the bridge", published_at=timezone.now() - timedelta(hours=1))
    with ThreadPoolExecutor(1) as pool:
        pool.submit(show_pages, live_server.url, tmp_path, "river", "/help/keys/").result()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["help-keys.png", "river.png"]
    sheet = Image.open(tmp_path / "river.png")
    assert sheet.size == (1440 + 820 + 390 + 3 * 12, 2 * (900 + 12))
    assert PAPER in {color for _, color in sheet.crop((0, 0, 1440, 900)).getcolors(1 << 20)}
    assert PAPER not in {color for _, color in sheet.crop((0, 912, 1440, 1812)).getcolors(1 << 20)}
    assert not User.objects.exists()
