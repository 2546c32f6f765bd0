"""Text stands out from what lies behind it, by day and by night (WCAG 2.2, success criterion 1.4.3)."""

import pytest
from django.utils import timezone
from playwright.sync_api import Page

from apps.jobs.models import Job
from tests.builders import (
    a_folder,
    a_follow,
    a_mark,
    a_plan,
    a_posting,
    a_profile,
    a_retrieval,
    a_schedule,
    a_source,
    a_user,
    an_edition,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Colours are drawn to be read as red, green, blue and opacity, whatever syntax they are written in.
FAINT_TEXTS = """() => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
    const drawn = new Map();
    const parts = colour => {
        if (!drawn.has(colour)) {
            canvas.clearRect(0, 0, 1, 1);
            canvas.fillStyle = colour;
            canvas.fillRect(0, 0, 1, 1);
            const [red, green, blue, opacity] = canvas.getImageData(0, 0, 1, 1).data;
            drawn.set(colour, [red, green, blue, opacity / 255]);
        }
        return drawn.get(colour);
    };
    const over = (upper, lower) => [0, 1, 2].map(at => upper[at] * upper[3] + lower[at] * (1 - upper[3])).concat(1);
    const background = element => {
        const own = parts(getComputedStyle(element).backgroundColor);
        if (own[3] === 1) return own;
        return over(own, element.parentElement ? background(element.parentElement) : [255, 255, 255, 1]);
    };
    const opacity = element =>
        getComputedStyle(element).opacity * (element.parentElement ? opacity(element.parentElement) : 1);
    const luminance = colour => {
        const linear = colour.map(part => part / 255).map(
            part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    };
    const contrast = (one, other) => {
        const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
    };
    const words = element => element.placeholder || [...element.childNodes]
        .filter(node => node.nodeType === Node.TEXT_NODE).map(node => node.data.trim()).join("");
    const faint = [];
    let seen = 0;
    for (const element of document.body.querySelectorAll("*")) {
        const text = words(element);
        if (!text || element.matches(".unseen, option, script, title") || !element.checkVisibility()) continue;
        seen += 1;
        const behind = background(element);
        const style = getComputedStyle(element, element.placeholder ? "::placeholder" : null);
        // Words in pictures are painted with what fills them.
        const [red, green, blue, strength] = parts(element.ownerSVGElement ? style.fill : style.color);
        const ratio = contrast(over([red, green, blue, strength * opacity(element)], behind), behind);
        if (ratio < 4.5) faint.push(`${ratio.toFixed(2)}: ${text.slice(0, 40)}`);
    }
    return {seen, faint};
}"""

PUBLIC = ["/", "/catalogue/", "/accounts/login/", "/accounts/signup/"]
OF_STAFF = [
    "/river/",
    "/river/starred/",
    "/catalogue/",
    "/add/",
    "/folders/",
    "/opml/",
    "/welcome/",
    "/feeds/health/",
    "/preferences/",
    "/accounts/email/",
    "/accounts/password/change/",
    "/help/keys/",
    "/sources/",
    "/sources/add/",
    "/sources/test/?address=nothing",
    "/plan/",
]


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest, page: Page) -> str:
    page.emulate_media(color_scheme=request.param)
    return request.param


def assert_legible(page: Page, address: str) -> None:
    page.goto(address)
    page.evaluate("document.querySelectorAll('details').forEach(element => { element.open = true })")
    found = page.evaluate(FAINT_TEXTS)
    assert found["seen"] > 5, address
    assert found["faint"] == [], address


def test_what_everybody_sees_is_legible(page: Page, scheme: str):
    a_posting(a_source(listed=True, category="News", description="About news."))
    for address in PUBLIC:
        assert_legible(page, address)


def test_what_people_and_staff_see_is_legible(page: Page, scheme: str, client, live_server):
    user = a_user(is_staff=True)
    source = a_source(listed=True, category="News", language="en")
    a_follow(user, source, folders=(a_folder(user),))
    failing = a_follow(user, a_source(listed=True)).source
    a_plan(curve=[[1.0, 2.0], [9.0, 0.5]])
    a_profile(source)
    a_schedule(source, observed_at=timezone.now())
    a_schedule(failing, consecutive_failures=4, failing_since=timezone.now())
    a_retrieval(source, outcome="failed", message="No answer.")
    a_retrieval(source, fetched_at=timezone.now(), dated=1, delay_seconds=60, longest_delay_seconds=60)
    posting = a_posting(
        source,
        author="Ada",
        categories=["Weather"],
        html="<p>Words, <a href='https://a.example/'>a link</a>, <code>code</code>.</p><blockquote>Said.</blockquote>",
    )
    an_edition(posting, text="Words of a posting.")
    a_mark(user, a_posting(source), read=True, starred_at=timezone.now())
    client.force_login(user)
    page.context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}]
    )
    job = Job.objects.create(kind="index", requested_by="Ann", state="failed", problem="A split was given up.")
    places = [
        f"/jobs/{job.pk}/",
        "/jobs/",
        f"/posting/{posting.pk}/",
        f"/river/source/{source.pk}/",
        f"/follow/{source.pk}/edit/",
    ]
    staffs = [f"/sources/{failing.pk}/", f"/sources/{source.pk}/", f"/sources/{source.pk}/delete/"]
    staffs += [f"/sources/{failing.pk}/plan/", f"/sources/{source.pk}/plan/"]
    for address in [*OF_STAFF, *places, *staffs]:
        assert_legible(page, address)
