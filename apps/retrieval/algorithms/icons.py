"""Turn a picture that may be hostile into a small icon. It is decoded in the confined child process only."""

import warnings
from base64 import b64encode
from io import BytesIO

# Loaded before the confinement, after which no file can be opened.
from PIL import IcoImagePlugin as IcoImagePlugin
from PIL import Image, ImageStat
from PIL import WebPImagePlugin as WebPImagePlugin

Image.preinit()
Image.MAX_IMAGE_PIXELS = 4_096 * 4_096  # 64 MB decoded

SIZE = 64  # pixels
MIN_SIZE = 8  # pixels: smaller ones are invisible trackers
MAX_ASPECT = 1.5  # of the longer side to the shorter: banners are no icons
MAX_BYTES = 4_096  # above it, colours are reduced to 256
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "ICO", "BMP")
_OPAQUE = 230  # mean alpha, of 255
_DARK, _LIGHT = 70, 225  # mean luminance, of 255


def small_icon(body: bytes) -> str:
    """The picture as a PNG of at most 64 x 64 pixels, in Base64; the first frame of an animation.

    Raises ValueError if it is none of the supported kinds, too large, too small, blank or far from square.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            return b64encode(_png(_visible_everywhere(_decoded(body)))).decode()
    except Exception as error:  # Pillow raises whatever its plugins do
        raise ValueError(f"It is no icon: {error}") from error


def _decoded(body: bytes) -> Image.Image:
    image = Image.open(BytesIO(body), formats=FORMATS)
    if image.format == "ICO":
        sizes = sorted(image.info["sizes"])
        image.size = next((size for size in sizes if min(size) >= SIZE), sizes[-1])  # type: ignore[misc]
    width, height = image.size
    if min(width, height) < MIN_SIZE or max(width, height) > MAX_ASPECT * min(width, height):
        raise ValueError(f"{width} x {height} pixels")
    image.draft("RGB", (2 * SIZE, 2 * SIZE))  # decodes a large JPEG at a fraction of its size
    decoded = image.convert("RGBA")
    decoded.thumbnail((SIZE, SIZE))
    if len(decoded.getcolors(SIZE * SIZE) or ()) < 2 or _alpha(decoded).getbbox() is None:
        raise ValueError("it is blank")
    return decoded


def _visible_everywhere(icon: Image.Image) -> Image.Image:
    """An icon of one dark or light colour gets a plate: it would vanish on dark or on light pages."""
    if ImageStat.Stat(_alpha(icon)).mean[0] > _OPAQUE:
        return icon
    luminance = ImageStat.Stat(icon.convert("L"), mask=_alpha(icon)).mean[0]
    if _DARK <= luminance <= _LIGHT:
        return icon
    plate = Image.new("RGBA", icon.size, "#ffffff" if luminance < _DARK else "#3a3f47")
    return Image.alpha_composite(plate, icon)


def _alpha(icon: Image.Image) -> Image.Image:
    return icon.getchannel("A")


def _png(icon: Image.Image) -> bytes:
    png = _saved(icon)
    return png if len(png) <= MAX_BYTES else _saved(icon.quantize(256, Image.Quantize.FASTOCTREE))


def _saved(icon: Image.Image) -> bytes:
    icon.info.clear()  # profiles and comments of the publisher
    content = BytesIO()
    icon.save(content, "PNG", optimize=True)
    return content.getvalue()
