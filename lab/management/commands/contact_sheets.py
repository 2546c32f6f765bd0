"""Show pages of a running demo in three widths, light and dark, on one picture each, to find what is wrong."""

from argparse import ArgumentParser
from collections.abc import Mapping
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from PIL import Image
from playwright.sync_api import Browser, Error, Page, ViewportSize, sync_playwright

from apps.accounts.models import User
from apps.following.actions import marks
from apps.following.models import Folder
from apps.postings.models import Posting
from apps.search.actions.saved import save_search
from apps.search.models import SavedSearch
from apps.stories.models import Story
from lab.browsing import DEMO, USER, admin_who_follows, chromium, replayed_feeds

VISITORS = {"front": "/", "signup": "/accounts/signup/", "login": "/accounts/login/"}
PAGES = {
    "river": "/river/",
    "compact": "/river/?view=compact",
    "cards": "/river/?view=cards",
    "magazine": "/river/?view=magazine",
    "folder": "/river/folder/{folder}/",
    "feed": "/river/source/{feed}/",
    "starred": "/river/starred/",
    "article": "/posting/{article}/",
    "search": "/search/?q=bridge+contract",
    "saved": "/search/saved/",
    "alert": "/search/saved/{saved}/rule/",
    "stories": "/stories/",
    "story": "/stories/{story}/",
    "for_you": "/for-you/",
    "trends": "/trends/",
    "catalogue": "/catalogue/",
    "add": "/add/",
    "folders": "/folders/",
    "preferences": "/preferences/",
    "account": "/account/",
    "plan": "/plan/",
    "dashboard": "/dashboard/",
    "source": "/sources/{feed}/",
}
SIZES = (
    ViewportSize(width=1440, height=900),
    ViewportSize(width=820, height=900),
    ViewportSize(width=390, height=900),
)  # CSS pixels
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
GAP = 12  # pixels between two pictures
GREY = (128, 128, 128)
SHOW_PICTURES = """() => Promise.allSettled([...document.images].filter(each =>
    each.checkVisibility() && each.getBoundingClientRect().top < innerHeight).map(each => each.decode()))"""
MAX_WHOLE = 3_000  # pixels of a page that are shown of its whole length


class Command(BaseCommand):
    help = f"{__doc__} First start `manage.py up` and, in another terminal, `{DEMO}`, and wait ten minutes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pages", nargs="*", help="names or paths (default: the pages that most people see)")
        parser.add_argument("--url", default="http://localhost:8000", help="of the portal (default: %(default)s)")
        parser.add_argument("--to", type=Path, required=True, help="folder of the pictures")
        parser.add_argument("--language", default="en", help="of the pages (default: %(default)s)")
        parser.add_argument("--whole", action="store_true", help="show the whole length of each page")

    def handle(
        self, *args: Any, pages: list[str], url: str, to: Path, language: str, whole: bool, **options: Any
    ) -> None:
        path = chromium()
        to.mkdir(parents=True, exist_ok=True)
        feeds = replayed_feeds()
        known = VISITORS | PAGES
        wanted = {name: known.get(name, name) for name in pages} or known
        with admin_who_follows(feeds) as session:
            places = _fill(User.objects.get(username=USER), language, feeds[0].pk)
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"]
                )
                visitor = _tab(browser, url, {settings.LANGUAGE_COOKIE_NAME: language})
                reader = _tab(browser, url, {settings.SESSION_COOKIE_NAME: session})
                for name, address in wanted.items():
                    try:
                        sheet = _sheet(visitor if name in VISITORS else reader, address.format(**places), whole=whole)
                    except Error as error:
                        raise CommandError(f"{url}: {error.message}") from error
                    sheet.save(to / f"{name.strip('/').replace('/', '-')}.png")
                    self.stdout.write(name)


def _fill(user: User, language: str, feed: int) -> Mapping[str, int]:
    """What the pages of one user show, and what their addresses name."""
    now = datetime.now(UTC)
    user.language = language
    user.save()
    articles = list(
        Posting.objects.filter(source_id=feed).order_by("-published_at", "-pk").values_list("pk", flat=True)
    )
    if not articles:
        raise CommandError("No article has been retrieved yet: wait a minute.")
    story = Story.objects.order_by("-sources", "-pk").values_list("pk", flat=True).first()
    for article in articles[:3]:
        marks.star(user, article, starred=True, now=now)
    marks.tag(user, articles[:2], "weather", now)
    marks.write_note(user, articles[0], "Read again before the meeting.", now=now)
    saved = save_search(user, "Bridges", "bridge contract", order=SavedSearch.Order.NEWEST, now=now)
    folder = Folder.objects.filter(user=user).order_by("pk").values_list("pk", flat=True)[0]
    return {"feed": feed, "article": articles[0], "story": story or 0, "saved": saved.pk, "folder": folder}


def _tab(browser: Browser, url: str, cookies: Mapping[str, str]) -> Page:
    context = browser.new_context(base_url=url, service_workers="block")
    context.add_cookies([{"name": name, "value": value, "url": url} for name, value in cookies.items()])
    return context.new_page()


def _sheet(tab: Page, address: str, *, whole: bool) -> Image.Image:
    """The page in all widths, by day above and by night below."""
    columns = [_column(tab, address, size, whole) for size in SIZES]
    heights = [max(pictures[scheme].height for pictures in columns) + GAP for scheme in SCHEMES]
    sheet = Image.new("RGB", (sum(size["width"] + GAP for size in SIZES), sum(heights)), GREY)
    left = 0
    for pictures, size in zip(columns, SIZES, strict=True):
        for picture, top in zip(pictures.values(), (0, heights[0]), strict=True):
            sheet.paste(picture, (left, top))
        left += size["width"] + GAP
    return sheet


def _column(tab: Page, address: str, size: ViewportSize, whole: bool) -> dict[Scheme, Image.Image]:
    tab.set_viewport_size(size)
    tab.goto(address)
    tab.evaluate(SHOW_PICTURES)
    pictures = {}
    for scheme in SCHEMES:
        tab.emulate_media(color_scheme=scheme)
        picture = Image.open(BytesIO(tab.screenshot(animations="disabled", full_page=whole)))
        pictures[scheme] = picture.crop((0, 0, size["width"], min(picture.height, MAX_WHOLE)))
    return pictures
