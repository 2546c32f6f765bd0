"""axe finds no violation of any impact, in the light and dark theme, with more contrast, on desktop and phone."""

from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser import everything
from tests.browser.legibility import faint_texts

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]

# It is evaluated, and no tag: the page's policy allows no script but its own.
[AXE] = [file.read_text("utf-8") for file in Path(__file__).parent.glob("vendor/axe-core@*/axe.min.js")]
FAULTS = """async ([options]) => {
    const found = await axe.run(document, {resultTypes: ["violations"], preload: false, ...options});
    return found.violations.map(each => `${each.id}: ${each.nodes.slice(0, 3).map(node =>
            `${node.target.join(" ")} ${node.any[0]?.message ?? node.all[0]?.message ?? ""}`).join(" | ")}`);
}"""
EVERYTHING = {"rules": {"target-size": {"enabled": True}}}
# Contrast takes axe most of its time: all texts are compared by `faint_texts` instead, and by axe in a trial.
BUT_CONTRAST = {"rules": {"target-size": {"enabled": True}, "color-contrast": {"enabled": False}}}
ON_A_PHONE = {"runOnly": ["target-size", "scrollable-region-focusable", "region", "landmark-unique"]}
OF_MUCH_CONTRAST = {
    "runOnly": ["color-contrast-enhanced"],
    "rules": {"color-contrast-enhanced": {"enabled": True}},  # 7 to 1
}
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


def faults(page: Page, *, whole: bool = True) -> list[str]:
    """Those of the page as it was loaded; unless `whole`, axe applies only its rules about places and targets."""
    found = []

    def check(how: str, options: dict[str, object]) -> None:
        found.extend(f"{how}: {fault}" for fault in page.evaluate(FAULTS, [options]))

    page.emulate_media(color_scheme="light", reduced_motion="reduce")  # colours that are still changing are none
    page.set_viewport_size(DESKTOP)
    if (width := page.evaluate("document.documentElement.scrollWidth")) > DESKTOP["width"]:
        found.append(f"on a desk: is {width} wide")
    page.evaluate(AXE)
    if whole:
        check("by day", BUT_CONTRAST)
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    check("by night, on a phone", ON_A_PHONE)
    return found + faint_texts(page)  # last, as it opens details, which cover what is below


def faults_in_themes(page: Page) -> list[str]:
    """All of the page, in both themes, with usual and with more contrast, and with its details open."""
    found = []
    page.evaluate(AXE)
    for scheme, contrast in product(("light", "dark"), ("no-preference", "more")):
        page.emulate_media(color_scheme=scheme, contrast=contrast, reduced_motion="reduce")
        rules = EVERYTHING["rules"] | (OF_MUCH_CONTRAST["rules"] if contrast == "more" else {})
        found += [f"{scheme}, {contrast}: {fault}" for fault in page.evaluate(FAULTS, [{"rules": rules}])]
    page.emulate_media(contrast="no-preference")
    page.evaluate("document.querySelectorAll('main details').forEach(each => { each.open = true; })")
    return found + [f"opened: {fault}" for fault in page.evaluate(FAULTS, [EVERYTHING])]


def test_more_contrast_is_respected(page: Page, client):
    values = everything.some_of_everything(everything.an_admin())
    addresses = ["/", "/trends/", "/stories/", "/search/?q=bridge", "/accounts/login/", "/posting/{posting_id}/"]
    found = []
    for address in addresses:
        page.goto(address.format(**values))
        page.evaluate(AXE)
        for scheme in ("light", "dark"):
            page.emulate_media(contrast="more", color_scheme=scheme, reduced_motion="reduce")
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
    page.evaluate(AXE)
    found = page.evaluate(FAULTS, [EVERYTHING])
    assert {fault.partition(":")[0] for fault in found} == {"color-contrast", "button-name"}
