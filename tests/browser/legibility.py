"""Text stands out from what lies behind it, by day and by night (WCAG 2.2, success criteria 1.4.3 and 1.4.6)."""

from playwright.sync_api import Page

LEAST_RATIOS = {"no-preference": 4.5, "more": 7.0}
# Colours are drawn to be read as red, green, blue and opacity, whatever syntax they are written in.
FAINT_TEXTS = """least => {
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
    const once = of => {
        const known = new Map();
        return element => known.get(element) ?? known.set(element, of(element)).get(element);
    };
    const background = once(element => {
        const own = parts(getComputedStyle(element).backgroundColor);
        if (own[3] === 1) return own;
        return over(own, element.parentElement ? background(element.parentElement) : [255, 255, 255, 1]);
    });
    const opacity = once(element =>
        getComputedStyle(element).opacity * (element.parentElement ? opacity(element.parentElement) : 1));
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
        if (!text || element.matches(".unseen, option, script, title, :disabled")) continue;
        if (!element.checkVisibility()) continue;
        seen += 1;
        const behind = background(element);
        const style = getComputedStyle(element, element.placeholder ? "::placeholder" : null);
        // Words in pictures are painted with what fills them.
        const [red, green, blue, strength] = parts(element.ownerSVGElement ? style.fill : style.color);
        const ratio = contrast(over([red, green, blue, strength * opacity(element)], behind), behind);
        if (ratio < least) faint.push(`${ratio.toFixed(2)}: ${text.slice(0, 40)}`);
    }
    return {seen, faint};
}"""


def faint_texts(page: Page) -> list[str]:
    """Those of the page as it is, in both themes, with usual and with more contrast; it stays in the dark one."""
    found = []
    page.evaluate("document.querySelectorAll('details').forEach(element => { element.open = true })")
    for contrast, least in LEAST_RATIOS.items():
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, contrast=contrast, reduced_motion="reduce")  # no changing colours
            texts = page.evaluate(FAINT_TEXTS, least)
            found += [f"{scheme}, {contrast}: {text}" for text in texts["faint"]]
            if texts["seen"] <= 5:
                found.append(f"{scheme}, {contrast}: only {texts['seen']} texts are seen")
    page.emulate_media(contrast="no-preference")
    return found
