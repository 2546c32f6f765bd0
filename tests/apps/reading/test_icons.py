"""Feed icons on pages, and the address that serves them."""

import math
import re
from pathlib import Path

import pytest
from django.conf import settings

from apps.sources.models import Icon
from apps.web.algorithms.icons import HUES
from tests.builders import a_follow, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db

DIGEST = "0123456789abcdef0123456789abcdef"


def an_icon() -> Icon:
    return Icon.objects.create(digest=DIGEST, png=b"\x89PNG\r\n\x1a\n")


@pytest.fixture
def followed(client):
    """A posting of a listed source that the client's user follows."""
    user, source = a_user(), a_source(listed=True, title="Daily Example")
    a_follow(user, source)
    client.force_login(user)
    return a_posting(source, title="Bridge stays open")


PAGES = (
    "/river/",
    "/river/source/{source}/",
    "/posting/{posting}/",
    "/posting/{posting}/?mode=reading",
    "/catalogue/",
    "/folders/",
)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_shows_a_letter_or_the_icon(client, followed, page):
    address = page.format(source=followed.source_id, posting=followed.pk)
    letters = re.findall(r'class="feed-icon hue-\d+" data-letter="(.)"', client.get(address).content.decode())
    assert set(letters) == {"D"}
    followed.source.icon = an_icon()
    followed.source.save()
    html = client.get(address).content.decode()
    assert html.count(f'<img class="feed-icon" src="/icon/{DIGEST}.png" alt=""') == len(letters)


def test_icon_is_public_and_immutable(client):
    an_icon()
    response = client.get(f"/icon/{DIGEST}.png")
    assert response.content.startswith(b"\x89PNG")
    assert response["Content-Type"] == "image/png"
    assert response["Cache-Control"] == "public, max-age=31536000, immutable"
    assert response["Content-Security-Policy"] == "default-src 'none'; sandbox"


def test_unknown_icon_is_not_cached(client):
    response = client.get("/icon/f.png")
    assert response.status_code == 404
    assert response["Cache-Control"] == "no-store"


# --- letters ----------------------------------------------------------------------------------------------------------
def luminance(lightness: float, chroma: float, hue: float) -> float:
    """Of a colour in OKLCH (https://bottosson.github.io/posts/oklab/), as WCAG 2.2 defines it."""
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    long, medium, short = (
        (lightness + x * a + y * b) ** 3
        for x, y in ((0.3963377774, 0.2158037573), (-0.1055613458, -0.0638541728), (-0.0894841775, -1.291485548))
    )
    red = 4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short
    green = -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short
    blue = -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short
    return sum(
        weight * min(max(part, 0), 1) for weight, part in zip((0.2126, 0.7152, 0.0722), (red, green, blue), strict=True)
    )


def test_white_letters_stand_out_on_every_colour():
    css = (Path(settings.BASE_DIR) / "static" / "css" / "panes.css").read_text("utf-8")
    [(lightness, chroma)] = re.findall(r"oklch\((\d+)% ([\d.]+) var\(--hue\)\); color: #ffffff", css)
    hues = re.findall(r"\.hue-\d+ \{ --hue: (\d+)deg; \}", css)
    assert len(hues) == HUES
    assert min(1.05 / (luminance(int(lightness) / 100, float(chroma), int(hue)) + 0.05) for hue in hues) > 4.5
