"""Rewrite the pictures of a sanitized article: proxied through another address, or replaced by links.

Works on the text: `postings.algorithms.markup` serializes tags and attribute values in one form only, without "<" or
">" inside a tag, so that a regular expression is as reliable as a parser. Data URLs are left as they are.
"""

import re
from collections.abc import Callable
from html import escape, unescape

AddressOf = Callable[[str], str]  # maps the publisher's address to the one to load from

LOADING = re.compile(r"<(img|source|video)\b[^<>]*+>")
_PLAYED = re.compile(r"<(?:audio|source|video)\b[^<>]*+>")
_SRC = re.compile(r'(?<= )src="([^"]*)"')
_ADDRESSES = re.compile(r'(?<= )(src|srcset|poster)="([^"]*)"')
_LINK_OR_LOADING = re.compile(r"<(/?a|img|source|video)\b[^<>]*+>")
_POSTER = re.compile(r' (?:poster|srcset)="[^"]*"')  # loaded before playback
ALTERNATIVE = re.compile(r' alt="([^"]*)"')


def is_on_web(address: str) -> bool:
    """
    >>> is_on_web("https://news.example/1.png"), is_on_web("data:image/png;base64,iVBORw0KGgo="), is_on_web("")
    (True, False, False)
    """
    return address.startswith(("https://", "http://"))


def with_proxied_pictures(html: str, address_of: AddressOf) -> str:
    """Rewrite the addresses of all pictures: `src`, `srcset` and `poster`; media: `with_proxied_recordings`.

    >>> with_proxied_pictures('<img alt="x" src="https://a.example/?b=1&amp;c=2">', lambda url: f"/image/{len(url)}")
    '<img alt="x" src="/image/26">'
    """

    def tag(match: re.Match[str]) -> str:
        is_picture = match[1] == "img"

        def attribute(found: re.Match[str]) -> str:
            name, value = found.groups()
            if name == "src" and not is_picture:
                return found[0]
            rewritten = _proxied_srcset if name == "srcset" else _proxied
            return f'{name}="{escape(rewritten(unescape(value), address_of))}"'

        return _ADDRESSES.sub(attribute, match[0])

    return LOADING.sub(tag, html)


def with_proxied_recordings(html: str, address_of: AddressOf) -> str:
    """Rewrite the addresses of audio and video.

    >>> with_proxied_recordings('<video src="https://a.example/1.mp4"></video>', lambda url: f"/recording/{len(url)}")
    '<video src="/recording/23"></video>'
    """

    def tag(match: re.Match[str]) -> str:
        return _SRC.sub(lambda found: f'src="{escape(_proxied(unescape(found[1]), address_of))}"', match[0])

    return _PLAYED.sub(tag, html)


def replaced(html: str) -> str:
    """Replace every picture by a link to it; inside a link, by text.

    >>> replaced('<img alt="A cat" src="https://a.example/1.png">')
    '<a href="https://a.example/1.png" rel="noopener noreferrer nofollow">Picture: A cat</a>'
    >>> replaced('<a href="https://a.example/"><img src="https://a.example/1.png"></a>')
    '<a href="https://a.example/">Picture</a>'
    """
    inside = 0  # open links, since links cannot be nested

    def tag(match: re.Match[str]) -> str:
        nonlocal inside
        match match[1]:
            case "a":
                inside += 1
            case "/a":
                inside -= 1
            case "img":
                return _in_place_of(match[0], linked=not inside)
            case "source" if ' src="' not in match[0]:
                return ""
            case "source" | "video":
                return _POSTER.sub("", match[0])
        return match[0]

    return _LINK_OR_LOADING.sub(tag, html)


def _proxied(address: str, address_of: AddressOf) -> str:
    return address_of(address) if is_on_web(address) else address


def _proxied_srcset(value: str, address_of: AddressOf) -> str:
    """A `srcset`: addresses and sizes in turn, with a comma after each pair; addresses may contain commas."""
    return " ".join(
        _proxied(word.removesuffix(","), address_of) + ("," if word.endswith(",") else "") for word in value.split(" ")
    )


def _in_place_of(picture: str, *, linked: bool) -> str:
    addresses = dict(_ADDRESSES.findall(picture))
    candidates = (addresses.get("src", ""), addresses.get("srcset", "").split(" ")[0].removesuffix(","))
    address = next(filter(is_on_web, candidates), "")
    if not address:
        return picture
    alternative = ALTERNATIVE.search(picture)
    words = f"Picture: {alternative[1]}" if alternative else "Picture"
    return f'<a href="{address}" rel="noopener noreferrer nofollow">{words}</a>' if linked else words
