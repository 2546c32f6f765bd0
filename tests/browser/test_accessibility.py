"""axe finds no serious violation on any page, in the light and dark theme, with more contrast, on desktop and phone."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser import everything

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]

[AXE] = Path(__file__).parent.glob("vendor/axe-core@*/axe.min.js")
FAULTS = """async ([options]) => {
    const found = await axe.run(document, {resultTypes: ["violations"], ...options});
    return found.violations.filter(each => ["serious", "critical"].includes(each.impact)).map(each =>
        `${each.id}: ${each.nodes.slice(0, 3).map(node =>
            `${node.target.join(" ")} ${node.any[0]?.message ?? node.all[0]?.message ?? ""}`).join(" | ")}`);
}"""
EVERYTHING = {"rules": {"target-size": {"enabled": True}}}
OF_COLOURS = {"runOnly": ["color-contrast"]}
ON_A_PHONE = {"runOnly": ["target-size", "scrollable-region-focusable"]}
OF_MUCH_CONTRAST = {
    "runOnly": ["color-contrast-enhanced"],
    "rules": {"color-contrast-enhanced": {"enabled": True}},  # 7 to 1
}
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


def faults(page: Page, addresses: Iterable[str]) -> list[str]:
    script = AXE.read_text(encoding="utf-8")
    found = []

    def check(how: str, options: dict[str, object]) -> None:
        found.extend(f"{address} {how}: {fault}" for fault in page.evaluate(FAULTS, [options]))

    for address in addresses:
        page.set_viewport_size(DESKTOP)
        page.emulate_media(color_scheme="light", reduced_motion="reduce")  # colours that are still changing are none
        page.goto(address)
        page.evaluate(script)  # so, and not as a tag: the page's policy allows no script but its own
        check("by day", EVERYTHING)
        page.set_viewport_size(PHONE)
        check("in a hand", ON_A_PHONE)
        page.emulate_media(color_scheme="dark")
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
        check("by night", OF_COLOURS)
    return found


def test_what_visitors_see(page: Page, client):
    values = everything.some_of_everything(everything.an_admin())
    addresses = everything.pages(client, values)
    assert len(addresses) >= 15
    found = faults(page, addresses)
    assert not found, "\n".join(found)


def test_pages_of_users_and_admins(page: Page, client, live_server):
    user = everything.an_admin()
    values = everything.some_of_everything(user)
    everything.sign_in(page.context, client, user, live_server.url)
    addresses = everything.pages(client, values)
    assert len(addresses) >= 50
    found = faults(page, addresses)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_more_contrast_is_respected(page: Page, client, scheme):
    values = everything.some_of_everything(everything.an_admin())
    page.emulate_media(contrast="more", color_scheme=scheme, reduced_motion="reduce")
    addresses = ["/", "/trends/", "/stories/", "/search/?q=bridge", "/accounts/login/", "/posting/{posting_id}/"]
    found = []
    for address in addresses:
        page.goto(address.format(**values))
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found += page.evaluate(FAULTS, [OF_MUCH_CONTRAST])
    assert found == []


def test_a_fault_is_found(page: Page):
    page.goto("/help/keys/")
    page.evaluate(
        """() => {
            const words = document.createElement("p");
            words.textContent = "Faint";
            document.querySelector("main").append(words, document.createElement("button"));
            document.adoptedStyleSheets = [new CSSStyleSheet()];
            document.adoptedStyleSheets[0].replaceSync("main p:last-of-type { color: #ccc; background: #fff }");
        }"""
    )
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(FAULTS, [EVERYTHING])
    assert {fault.partition(":")[0] for fault in found} == {"color-contrast", "button-name"}
