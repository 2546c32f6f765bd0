"""Reading as people do it all day: with a mouse, with keys alone, with a finger, and with scripts switched off."""

import re
import struct
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.accounts.models import User
from apps.following.models import Highlight, Mark, Note, Playback, Tagging
from apps.reading.actions import recordings
from tests.apps.reading.recordings_server import Publisher, publishing
from tests.browser.scripts import with_and_without_scripts
from tests.builders import NOON, a_follow, a_posting, a_user, some_postings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def user(page: Page, client: Client, live_server) -> User:
    """A user whose browser is signed in."""
    user = a_user(password="a long password")
    client.force_login(user)
    cookie = {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}
    page.context.add_cookies([cookie])
    return user


def settled(is_so: Callable[[], bool], page: Page) -> None:
    """Wait until what the browser sent has arrived."""
    for _ in range(300):
        if is_so():
            return
        page.wait_for_timeout(100)
    pytest.fail("it did not arrive")


# --- a day's reading --------------------------------------------------------------------------------------------------
@with_and_without_scripts
def test_a_posting_is_read_starred_tagged_and_noted(page: Page, user: User):
    posting = some_postings(3, a_follow(user).source, newest_at=timezone.now() - timedelta(hours=1))[1]
    page.goto("/river/")
    page.locator(f"#posting-{posting.pk} [data-star]").click()
    expect(page.locator(f"#posting-{posting.pk} [data-star]")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("link", name=posting.title).click()
    page.get_by_role("textbox", name="Add a tag").or_(page.get_by_label("Add a tag")).first.fill("ships")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("link", name="ships", exact=True).last).to_be_visible()
    page.locator("#note summary").click()
    page.get_by_role("textbox", name="Your note").fill("Ask about the second ship.")
    page.get_by_role("button", name="Save note").click()
    expect(page.get_by_text("Note saved.")).to_be_visible()
    page.goto("/notes/?q=second")
    expect(page.get_by_text("Ask about the second ship.")).to_be_visible()
    page.goto("/history/")
    expect(page.locator("article")).to_have_count(1)
    mark = Mark.objects.get(posting=posting)
    assert mark.read
    assert mark.starred_at
    assert (Tagging.objects.get().posting, Note.objects.get().posting) == (posting, posting)


def test_a_selected_passage_is_highlighted_by_the_button_beside_it(page: Page, user: User):
    html = "<p>The old bridge.</p><p>The <b>old</b> bridge fell.</p>"
    posting = a_posting(a_follow(user).source, html=html)
    page.goto(f"/posting/{posting.pk}/")
    expect(page.locator("[data-highlight-selection]")).to_be_hidden()
    page.evaluate(
        """() => {
          const [, second] = document.querySelectorAll(".prose p");
          const range = document.createRange();
          range.setStart(second.querySelector("b").firstChild, 0);
          range.setEnd(second.lastChild, 7);
          getSelection().removeAllRanges();
          getSelection().addRange(range);
        }"""
    )
    page.locator("[data-highlight-selection]").click()
    marks = page.locator(".prose p:nth-of-type(2) mark")
    expect(marks.first).to_have_text("old")
    expect(marks.last).to_have_text("bridge")
    expect(page.locator(".prose p:first-of-type mark")).to_have_count(0)
    assert Highlight.objects.get().quote == "old bridge"


def test_a_double_click_on_a_star_stars_once(page: Page, user: User):
    posting = a_posting(a_follow(user).source)
    page.goto("/river/")
    star = page.locator(f"#posting-{posting.pk} [data-star]")
    with page.expect_response("**/mark/"):
        star.dblclick(delay=150)
    expect(star).to_have_attribute("aria-pressed", "true")
    page.wait_for_load_state("networkidle")
    assert Mark.objects.get(posting=posting).starred_at


@with_and_without_scripts
def test_a_list_is_marked_up_to_here_and_that_is_undone(page: Page, user: User):
    shown = some_postings(4, a_follow(user).source, newest_at=timezone.now() - timedelta(hours=1))
    page.goto("/river/")
    page.locator(f"#posting-{shown[1].pk} [data-menu]").click()
    page.get_by_role("button", name="Mark as read up to here").click()
    expect(page.get_by_text("2 articles marked as read.")).to_be_visible()
    expect(page.locator("[data-unread]")).to_have_count(2)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("2 articles marked as unread.")).to_be_visible()
    expect(page.locator("[data-unread]")).to_have_count(4)


def test_far_down_a_list_the_number_of_marked_articles_and_undo_are_visible(page: Page, user: User):
    shown = some_postings(25, a_follow(user).source, newest_at=timezone.now() - timedelta(hours=1))
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto("/river/")
    page.locator(f"#posting-{shown[20].pk} [data-menu]").click()
    page.get_by_role("button", name="Mark as read up to here").click()
    expect(page.get_by_text("21 articles marked as read.")).to_be_in_viewport(ratio=1)
    expect(page.locator(f"#posting-{shown[20].pk}")).to_be_in_viewport(ratio=1)
    message, row = page.locator(".messages").bounding_box(), page.locator(f"#posting-{shown[20].pk}").bounding_box()
    assert message["y"] + message["height"] <= row["y"]
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("[data-unread]")).to_have_count(25)


def choose_layout(page: Page, name: str) -> None:
    page.get_by_title("Layout").click()
    page.get_by_role("group", name="Layout").get_by_role("link", name=name).click()


@with_and_without_scripts
def test_layouts_are_chosen_and_fit_every_window(page: Page, user: User):
    source = a_follow(user).source
    for number in range(4):
        a_posting(source, title="w" * 90, text="v" * 200, image_url=f"/static/icon.svg?{number}" if number % 2 else "")
    page.goto("/river/")
    for name, view in (("Cards", "cards"), ("Magazine", "magazine"), ("Compact", "compact"), ("List", "list")):
        choose_layout(page, name)
        expect(page.locator(f".rows.is-{view}")).to_be_visible()
        for width in (320, 390, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert overflow <= 0, (view, width)
    choose_layout(page, "Cards")
    page.goto("/river/")
    expect(page.locator(".rows.is-cards")).to_be_visible()


@with_and_without_scripts
def test_reader_view_keeps_the_chosen_text_size(page: Page, user: User):
    source = a_follow(user).source
    older, newer = (
        a_posting(source, text="Ships sailed.\n\n" * 200, published_at=NOON.replace(hour=at)) for at in (8, 9)
    )
    page.goto(f"/posting/{newer.pk}/")
    page.get_by_role("link", name="Reader view").click()
    text = page.locator(".text-alone .prose")
    usual = text.evaluate("element => parseFloat(getComputedStyle(element).fontSize)")
    expect(page.get_by_role("navigation", name="Your feeds")).to_have_count(0)
    page.get_by_role("link", name="Size 5").click()
    expect(page.get_by_role("link", name="Size 5")).to_have_attribute("aria-current", "true")
    page.get_by_role("link", name="Older").click()
    expect(page).to_have_url(re.compile(f"/posting/{older.pk}/"))
    assert text.evaluate("element => parseFloat(getComputedStyle(element).fontSize)") > 1.5 * usual


def test_paper_shows_the_article_alone(page: Page, user: User):
    posting = a_posting(a_follow(user).source, html="<p>Words on paper.</p>")
    page.goto(f"/posting/{posting.pk}/")
    page.emulate_media(media="print")
    expect(page.get_by_text("Words on paper.")).to_be_visible()
    assert page.locator("nav:visible, form:visible, button:visible, summary:visible, .top:visible").count() == 0


# --- keys alone -------------------------------------------------------------------------------------------------------
def focus(page: Page, selector: str) -> None:
    """Go forward with the Tab key until something has the focus, and see that it shows."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            style = page.evaluate(
                "() => { const s = getComputedStyle(document.activeElement);"
                " const after = getComputedStyle(document.activeElement, '::after');"
                " return s.outlineStyle !== 'none' || after.outlineStyle !== 'none' || s.boxShadow !== 'none' }"
            )
            assert style, selector
            return
    pytest.fail(f"the Tab key does not lead to {selector}")


@with_and_without_scripts
def test_keys_alone_lead_from_signing_in_to_a_starred_article(page: Page, request: pytest.FixtureRequest):
    person = a_user("ada")
    person.set_password("a long password")
    person.save()
    posting = some_postings(3, a_follow(person).source, newest_at=timezone.now() - timedelta(hours=1))[1]
    page.goto("/accounts/login/")
    focus(page, "[name=login]")
    page.keyboard.type("ada")
    focus(page, "[name=password]")
    page.keyboard.type("a long password")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/river/"))
    if request.node.callspec.params["page"] == "with scripts":
        for key in "jjo":
            page.keyboard.press(key)
        expect(page).to_have_url(re.compile(f"/posting/{posting.pk}/"))
        page.keyboard.press("s")
    else:
        focus(page, f"#title-{posting.pk}")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(f"/posting/{posting.pk}/"))
        focus(page, "[data-whole] [data-star]")
        page.keyboard.press("Enter")
    expect(page.locator("[data-whole] [data-star]")).to_have_attribute("aria-pressed", "true")
    assert Mark.objects.get(posting=posting).starred_at


@pytest.mark.parametrize("view", ["list", "compact", "cards", "magazine"])
def test_keys_do_the_same_in_every_layout(page: Page, user: User, view: str):
    first, second, third = some_postings(3, a_follow(user).source, newest_at=timezone.now() - timedelta(hours=1))
    page.goto(f"/river/?view={view}")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("j")  # is a letter there
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(page.locator(f"#posting-{first.pk}")).to_have_class(re.compile("is-selected"))
    page.keyboard.press("m")
    expect(page.locator("[data-unread]")).to_have_count(2)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("p")
    page.keyboard.press("p")  # what is above is read
    expect(page.locator(f"#posting-{second.pk}")).to_have_class(re.compile("is-selected"))

    page.keyboard.press("t")
    field = page.locator(f"#posting-{second.pk} .tag-form [name=tag]")
    expect(field).to_be_focused()
    page.keyboard.type("ships")  # letters, no keys
    page.keyboard.press("Enter")
    expect(page.locator(f"#row-tags-{second.pk}")).to_have_text("ships")
    assert not Mark.objects.filter(posting=second).exists()
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(f"#title-{second.pk}")).to_be_focused()
    expect(page.locator(f"#posting-{second.pk} .row-menu-items")).to_have_count(0)
    page.keyboard.press("j")
    page.keyboard.press("o")
    expect(page).to_have_url(re.compile(f"/posting/{third.pk}/"))
    page.keyboard.press("u")
    expect(page).to_have_url(re.compile(f"/river/.*view={view}"))
    for key, address in (("h", "/history/"), ("n", "/notes/"), ("t", "/tags/")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(page).to_have_url(re.compile(address))


# --- fingers ----------------------------------------------------------------------------------------------------------
DRAW = """(row, by) => {
    const { x, y, width, height } = row.getBoundingClientRect();
    const from = [x + width / 2, y + height / 2];
    const told = (type, part) => row.querySelector(".row-title").dispatchEvent(new PointerEvent(type, {
        pointerType: "touch", isPrimary: true, bubbles: true, cancelable: true,
        clientX: from[0] + by[0] * part, clientY: from[1] + by[1] * part,
    }));
    told("pointerdown", 0);
    for (const part of [0.2, 0.5, 0.8, 1]) told("pointermove", part);
    told("pointerup", 1);
}"""


def test_a_finger_marks_and_stars_by_drawing_a_row(page: Page, user: User):
    first, second = some_postings(2, a_follow(user).source, newest_at=timezone.now() - timedelta(hours=1))
    page.goto("/river/")
    for by in ([60, 0], [100, 100], [0, 200]):  # not far enough, or not sideways
        page.locator(f"#posting-{first.pk}").evaluate(DRAW, by)
    page.locator(f"#posting-{first.pk}").evaluate(DRAW, [120, 4])
    expect(page.locator("[data-unread]")).to_have_count(1)
    page.locator(f"#posting-{second.pk}").evaluate(DRAW, [-120, 4])
    expect(page.locator(f"#posting-{second.pk} [data-star]")).to_have_attribute("aria-pressed", "true")
    marks = {mark.posting_id: (mark.read, mark.starred_at is not None) for mark in Mark.objects.all()}
    assert marks == {first.pk: (True, False), second.pk: (None, True)}
    after_the_time = "row => getComputedStyle(row.querySelector('.row-time'), '::after').content"
    shown = [page.locator(f"#posting-{each.pk}").evaluate(after_the_time) for each in (first, second)]
    assert ["★" in content for content in shown] == [False, True], "its button is hidden from fingers"


SCROLL = """async ids => {
    const drawn = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    for (const id of ids) {
        document.getElementById(id).scrollIntoView();
        await drawn();
    }
}"""


def test_articles_scrolled_past_are_marked_read(page: Page, user: User):
    user.mark_on_scroll = True
    user.save()
    postings = some_postings(30, a_follow(user).source, newest_at=timezone.now() - timedelta(hours=1))
    page.set_viewport_size({"width": 390, "height": 500})  # the list is long enough to scroll
    page.goto("/river/")
    page.locator(f"#read-{postings[0].pk}").click()
    expect(page.locator("[data-unread]")).to_have_count(29)
    page.locator(f"#read-{postings[0].pk}").click()  # unread again, by hand
    expect(page.locator("[data-unread]")).to_have_count(30)
    page.evaluate(SCROLL, [f"posting-{posting.pk}" for posting in postings[:11]])
    expect(page.locator("[data-unread]")).to_have_count(22)  # of the one above the last a part is to be seen
    expect(page.locator(".sidebar [data-count=all]")).to_have_text("22")
    page.evaluate(SCROLL, [f"posting-{posting.pk}" for posting in postings[11:21]])
    page.goto("/catalogue/")  # leaving a page reports the rest
    settled(lambda: Mark.objects.filter(read=True).count() == 18, page)
    read = set(Mark.objects.filter(read=True).values_list("posting", flat=True))
    assert read == {posting.pk for posting in postings[1:19]}


# --- recordings -------------------------------------------------------------------------------------------------------
def a_silence(seconds: int) -> bytes:
    """A WAV file, 8 kHz, 8 bit."""
    samples = b"\x80" * 8_000 * seconds
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8_000, 8_000, 1, 8)
    return (
        struct.pack("<4sI4s", b"RIFF", 36 + len(samples), b"WAVE")
        + form
        + struct.pack("<4sI", b"data", len(samples))
        + samples
    )


@pytest.fixture
def publisher(settings) -> Iterator[Publisher]:
    settings.RETRIEVAL_OPEN_HOSTS = ["media.localhost"]
    with publishing({"/show.wav": ("audio/wav", a_silence(90))}) as server:
        yield server


# The publisher is the first argument, so that the page, which may still be loading, is left before it ends.
def test_a_recording_is_loaded_part_after_part(publisher: Publisher, page: Page, user: User, monkeypatch):
    monkeypatch.setattr(recordings, "PART_BYTES", 100_000)  # 12.5 s of it
    show = {"url": publisher.address("/show.wav"), "media_type": "audio/wav", "length": 0, "duration": "", "title": ""}
    page.goto(f"/posting/{a_posting(a_follow(user).source, enclosures=[show]).pk}/")
    player = page.locator("audio")
    player.evaluate("audio => audio.play()")
    settled(lambda: player.evaluate("audio => audio.buffered.length && audio.buffered.end(0)") > 30, page)
    assert player.evaluate("audio => audio.duration") == 90


def test_a_recording_goes_on_where_it_was_left(publisher: Publisher, page: Page, user: User):
    show = {"url": publisher.address("/show.wav"), "media_type": "audio/wav", "length": 0, "duration": "", "title": ""}
    posting = a_posting(a_follow(user).source, enclosures=[show])
    page.goto(f"/posting/{posting.pk}/")
    page.locator("audio").evaluate(
        "async audio => { await audio.play(); audio.currentTime = 42;"
        " await new Promise(done => audio.addEventListener('seeked', done, { once: true })); audio.pause(); }"
    )
    settled(lambda: Playback.objects.filter(seconds__gte=42, seconds__lt=60).exists(), page)
    page.reload()
    expect(page.get_by_text("You stopped at 0:4")).to_be_visible()
    page.locator("audio").evaluate("async audio => { await audio.play(); audio.pause(); }")
    assert 41 < page.locator("audio").evaluate("audio => audio.currentTime") < 60


# --- shared postings --------------------------------------------------------------------------------------------------
@with_and_without_scripts
def test_a_posting_is_shown_to_others_and_taken_back(page: Page, user: User):
    posting = a_posting(a_follow(user).source, title="The ship", text="Ships sailed.")
    page.goto(f"/posting/{posting.pk}/")
    page.locator("#share summary").click()
    page.get_by_role("button", name="Create a secret link").click()
    address = page.locator("#share a.secret").inner_text()
    assert page.get_by_role("link", name="Send by mail").get_attribute("href").startswith("mailto:?subject=The%20ship")
    cookies = page.context.cookies()
    page.context.clear_cookies()
    page.goto(address)
    expect(page.get_by_role("heading", name="The ship")).to_be_visible()
    expect(page.get_by_role("link", name="Read the original")).to_have_attribute("href", posting.url)
    page.context.add_cookies(cookies)
    page.goto("/shared/")
    page.get_by_role("button", name="Stop sharing").click()
    expect(page.get_by_text("You have not shared anything.")).to_be_visible()
