"""Take the pictures of the documentation and of the front page from a running demo, with headless Chromium."""

from argparse import ArgumentParser
from io import BytesIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from PIL import Image
from playwright.sync_api import Error, Page, ViewportSize, sync_playwright

from lab.browsing import DEMO, admin_who_follows, chromium, replayed_feeds

PAGES = {"articles": "/river/", "search": "/search/?q=bridge+contract", "plan": "/sources/{feed}/plan/"}
SIZE = ViewportSize(width=1280, height=800)  # CSS pixels
FRONT_PAGE = "articles"  # by day and by night
MAX_FRONT_BYTES = 60_000  # of a picture there
QUALITIES = range(80, 10, -10)  # of WebP, the best first
COLORS = 256  # of a picture; more make no visible difference and a file three times as large
ROUNDS = 3  # that move the colors to the nearest of the page: large areas keep theirs


class Command(BaseCommand):
    help = f"{__doc__} First start `manage.py up` and, in another terminal, `{DEMO}`, and wait ten minutes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--url", default="http://localhost:8000", help="of the portal (default: %(default)s)")
        parser.add_argument("--to", type=Path, default=Path("docs/images"), help="folder (default: %(default)s)")
        parser.add_argument(
            "--front",
            type=Path,
            default=Path("static/images"),
            help="of those of the front page (default: %(default)s)",
        )

    def handle(self, *args: Any, url: str, to: Path, front: Path, **options: Any) -> None:
        browser = chromium()
        for folder in (to, front):
            folder.mkdir(parents=True, exist_ok=True)
        feeds = replayed_feeds()
        with admin_who_follows(feeds) as session:
            try:
                take_pictures(browser, url, session, feeds[0].pk, to, front)
            except Error as error:
                raise CommandError(f"{url}: {error.message}") from error


def take_pictures(chromium: str, url: str, session: str, feed: int, to: Path, front: Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage"])
        context = browser.new_context(base_url=url, viewport=SIZE, color_scheme="light", service_workers="block")
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": url}])
        page = context.new_page()
        for name, address in PAGES.items():
            page.goto(address.format(feed=feed), wait_until="networkidle")
            page.reload(wait_until="networkidle")  # the first time, caches are cold, and the page says how long it took
            if name == FRONT_PAGE:
                open_article(page)
            picture = Image.open(BytesIO(page.screenshot(animations="disabled")))
            small = picture.quantize(COLORS, Image.Quantize.MAXCOVERAGE, ROUNDS)  # keeps rare colors
            small.save(to / f"{name}.png", optimize=True)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.goto(PAGES[FRONT_PAGE], wait_until="networkidle")
            open_article(page)
            (front / f"reader-{scheme}.webp").write_bytes(light_picture(page.screenshot(animations="disabled")))
        browser.close()


def open_article(page: Page) -> None:
    """The first with a picture, if there is one, beside the list."""
    pictured = page.locator(".row.has-image")
    (pictured if pictured.count() else page.locator(".row")).first.locator("[data-open]").click()
    page.locator("#pane [data-heading]").wait_for()
    page.wait_for_load_state("networkidle")


def light_picture(picture: bytes) -> bytes:
    """As WebP, in the best quality that is small enough."""
    for quality in QUALITIES:
        file = BytesIO()
        Image.open(BytesIO(picture)).convert("RGB").save(file, "WEBP", quality=quality, method=6)
        if len(file.getvalue()) <= MAX_FRONT_BYTES:
            return file.getvalue()
    raise CommandError(f"A picture of the front page takes more than {MAX_FRONT_BYTES:,} bytes.")
