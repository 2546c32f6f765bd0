"""What a page weighs and how it comes: little, from nowhere else, nothing waits for scripts, and nothing moves."""

import gzip
from collections.abc import Callable
from functools import cache
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from tests.builders import a_posting, a_source

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]

MAX_BYTES = 60_000  # bytes of styles and scripts together, compressed
NARROW, WIDE = {"width": 390, "height": 844}, {"width": 1280, "height": 900}

WATCH = """(() => {
    window.shifts = [];
    const names = entry => entry.sources.map(({node, previousRect: from, currentRect: to}) =>
        `${node?.className || node?.nodeName} from ${from.x},${from.y} to ${to.x},${to.y}`).join("; ");
    const noted = entries => entries.filter(entry => !entry.hadRecentInput).forEach(
        entry => window.shifts.push(`${entry.value.toFixed(4)}: ${names(entry)}`));
    const observer = new PerformanceObserver(found => noted(found.getEntries()));
    observer.observe({type: "layout-shift", buffered: true});
    window.flush = () => noted(observer.takeRecords());
})()"""
SEEN = """async () => {
    await document.fonts.ready;
    await Promise.all([...document.images].filter(image => !image.complete && image.loading !== "lazy").map(
        image => new Promise(done => { image.onload = image.onerror = done; })));
    for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
    window.flush();
    const said = name => document.querySelector(`meta[name=${name}]`)?.content ?? "";
    const scripts = [...document.scripts].filter(script => !script.type.includes("json"));
    return {
        shifts: window.shifts,
        resources: performance.getEntriesByType("resource").map(each => each.name),
        blocking: scripts.filter(script => !script.src || !(script.defer || script.async || script.type === "module"))
            .map(script => script.outerHTML.slice(0, 80)),
        unsized: [...document.images].filter(image => !image.closest(".prose") && !(image.width && image.height
            && image.hasAttribute("width") && image.hasAttribute("height"))).map(image => image.outerHTML.slice(0, 80)),
        title: document.title, viewport: said("viewport"), description: said("description"),
        language: document.documentElement.lang, headings: document.querySelectorAll("h1").length,
        width: document.documentElement.scrollWidth,
    };
}"""


def weighing(page: Page) -> Callable[[str], int]:
    """Counts the bytes of a file as they travel."""
    return cache(lambda address: len(gzip.compress(page.request.get(address).body(), 6)))


def complaints(page: Page, address: str, home: str, weigh: Callable[[str], int]) -> list[str]:
    page.goto(address)
    seen = page.evaluate(SEEN)
    weight = sum(weigh(each) for each in seen["resources"] if urlsplit(each).path.endswith((".css", ".js")))
    bounds = {
        f"weighs {weight} bytes": weight > MAX_BYTES,
        f"asks elsewhere: {seen['resources']}": not all(each.startswith((home, "data:")) for each in seen["resources"]),
        f"waits for {seen['blocking']}": seen["blocking"],
        f"moves: {seen['shifts']}": seen["shifts"],
        f"has pictures of no size: {seen['unsized']}": seen["unsized"],
        f"is called {seen['title']!r}": len(seen["title"]) < 10,
        "is described to nobody": len(seen["description"]) < 20,
        "says no language": not seen["language"],
        "fits no screen": "width=device-width" not in seen["viewport"] or "user-scalable" in seen["viewport"],
        f"is {seen['width']} wide": seen["width"] > page.viewport_size["width"],  # type: ignore[index]
        f"has {seen['headings']} headings of the first rank": seen["headings"] != 1,
    }
    return [f"{address} {words}" for words, holds in bounds.items() if holds]


@pytest.mark.parametrize("viewport", [NARROW, WIDE])
def test_the_first_page_stays_where_it_is_while_its_pictures_come(page: Page, live_server, viewport):
    page.add_init_script(WATCH)
    page.set_viewport_size(viewport)
    large = "<svg xmlns='http://www.w3.org/2000/svg' width='900' height='700'/>"
    page.route("**/image/**", lambda route: route.fulfill(body=large, content_type="image/svg+xml"))
    source = a_source(listed=True)
    for number in range(30):
        a_posting(source, image_url=f"https://pictures.example/{number}.jpg", title=f"Words {number} " * 6)
    assert complaints(page, "/", live_server.url, weighing(page)) == []
    page.mouse.wheel(0, 2_000)
    assert page.evaluate(SEEN)["shifts"] == []


def test_layout_shifts_are_detected(page: Page):
    page.add_init_script(WATCH)
    page.goto("/help/keys/")
    page.evaluate("() => new Promise(requestAnimationFrame)")
    page.evaluate(
        """() => {
            const block = document.createElement("div");
            document.querySelector("main").prepend(block);
            block.innerHTML = "<p>Late</p>".repeat(5);
        }"""
    )
    assert page.evaluate(SEEN)["shifts"]
