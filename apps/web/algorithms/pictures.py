"""The pictures of an article that was made safe: led through another address, or replaced by links.

Works on the text. What `postings.algorithms.markup` writes has its tags and attribute values in one form only, in which
neither "<" nor ">" stands inside of a tag; so an expression finds them as surely as a parser would. Addresses that are
not on the web (a small picture inside its own address) are left as they are.
"""

import re
from collections.abc import Callable
from html import escape, unescape

AddressOf = Callable[[str], str]  # the address to show a picture from, for the address that it has

_LOADING = re.compile(r"<(img|source|video)\b[^<>]*+>")
_PLAYED = re.compile(r"<(?:audio|source|video)\b[^<>]*+>")
_SRC = re.compile(r'(?<= )src="([^"]*)"')
_ADDRESSES = re.compile(r'(?<= )(src|srcset|poster)="([^"]*)"')
_LINK_OR_LOADING = re.compile(r"<(/?a|img|source|video)\b[^<>]*+>")
_POSTER = re.compile(r' (?:poster|srcset)="[^"]*"')  # what is loaded before anybody plays anything
_ALTERNATIVE = re.compile(r' alt="([^"]*)"')


def is_on_web(address: str) -> bool:
    """
    >>> is_on_web("https://news.example/1.png"), is_on_web("data:image/png;base64,iVBORw0KGgo="), is_on_web("")
    (True, False, False)
    """
    return address.startswith(("https://", "http://"))


def led_through(html: str, address_of: AddressOf) -> str:
    """The article with every picture at another address: `src`, `srcset` and the `poster` of a video.

    The media that people play are no pictures: see `played_through`.

    >>> led_through('<img alt="x" src="https://a.example/?b=1&amp;c=2">', lambda address: f"/image/{len(address)}")
    '<img alt="x" src="/image/26">'
    """

    def tag(match: re.Match[str]) -> str:
        is_picture = match[1] == "img"

        def attribute(found: re.Match[str]) -> str:
            name, value = found.groups()
            if name == "src" and not is_picture:
                return found[0]
            led = _led_set(unescape(value), address_of) if name == "srcset" else _led(unescape(value), address_of)
            return f'{name}="{escape(led)}"'

        return _ADDRESSES.sub(attribute, match[0])

    return _LOADING.sub(tag, html)


def played_through(html: str, address_of: AddressOf) -> str:
    """The article with all audio and video at another address.

    >>> played_through('<video src="https://a.example/1.mp4"></video>', lambda address: f"/recording/{len(address)}")
    '<video src="/recording/23"></video>'
    """

    def tag(match: re.Match[str]) -> str:
        return _SRC.sub(lambda found: f'src="{escape(_led(unescape(found[1]), address_of))}"', match[0])

    return _PLAYED.sub(tag, html)


def replaced(html: str) -> str:
    """The article with a link in the place of every picture; inside a link, with words alone.

    >>> replaced('<img alt="A cat" src="https://a.example/1.png">')
    '<a href="https://a.example/1.png" rel="noopener noreferrer nofollow">Picture: A cat</a>'
    >>> replaced('<a href="https://a.example/"><img src="https://a.example/1.png"></a>')
    '<a href="https://a.example/">Picture</a>'
    """
    inside = 0  # links that are open: one may not lie inside another

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


def _led(address: str, address_of: AddressOf) -> str:
    return address_of(address) if is_on_web(address) else address


def _led_set(value: str, address_of: AddressOf) -> str:
    """A `srcset`: addresses and sizes in turn, with a comma after each pair; addresses may hold commas inside."""
    return " ".join(
        _led(word.removesuffix(","), address_of) + ("," if word.endswith(",") else "") for word in value.split(" ")
    )


def _in_place_of(picture: str, *, linked: bool) -> str:
    addresses = dict(_ADDRESSES.findall(picture))
    candidates = (addresses.get("src", ""), addresses.get("srcset", "").split(" ")[0].removesuffix(","))
    address = next(filter(is_on_web, candidates), "")
    if not address:
        return picture
    alternative = _ALTERNATIVE.search(picture)
    words = f"Picture: {alternative[1]}" if alternative else "Picture"
    return f'<a href="{address}" rel="noopener noreferrer nofollow">{words}</a>' if linked else words
