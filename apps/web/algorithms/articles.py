"""What pages add to a sanitized article: cards for players, and regions that scroll.

Works on the text, as `pictures` does and for the same reason.
"""

import re
from collections.abc import Callable
from html import escape, unescape

from apps.postings.algorithms.players import player_of
from apps.web.algorithms.pictures import ALTERNATIVE

# A block with a link alone: how `postings.algorithms.markup` stores a frame, and how people paste a video's address.
_ALONE = re.compile(
    r'<(figure|p|div)><a href="([^"]*)"[^<>]*+>(<img\b[^<>]*+>)?([^<>]*+)(<time\b[^<>]*+>[^<>]*+</time>)?</a></\1>'
)
_PICTURE_ALONE = re.compile(r'((?:^|>)\s*+<img\b[^<>]*? )loading="lazy"(?=[^<>]*+>\s*+(?:<|$))')
BEGINNING = 1_000  # characters of markup, which fill about a window
_TABLE = re.compile(r"<(/?)table\b[^<>]*+>")


def player_link(page: str, title: str, picture: str, seconds: int | None) -> str:
    """The markup, still without a card, for the recording that a posting is about."""
    image = f'<img alt="" src="{escape(picture)}" loading="lazy" decoding="async">' if picture else ""
    length = f'<time datetime="PT{seconds}S">{clock(seconds)}</time>' if seconds else ""
    return f'<figure><a href="{escape(page)}">{image}{escape(title)}{length}</a></figure>'


def with_players(html: str, frame_of: Callable[[str], str], *, pictured: bool) -> str:
    """The article with a card for each recording of a known site, which names the address of the frame to play it in.

    Nothing is requested from the site until a script inserts that frame; without one the card is a link.
    """

    def card(match: re.Match[str]) -> str:
        _, address, image, words, length = match.groups(default="")
        player = player_of(unescape(address))
        if player is None:
            return match[0]
        if not image and player.picture:
            image = f'<img alt="" src="{escape(player.picture)}" loading="lazy" decoding="async">'
        alternative = ALTERNATIVE.search(image)
        title = words.strip() or (alternative[1] if alternative else "")
        if not title or "://" in title:
            title = player.site
        image = ALTERNATIVE.sub(' alt=""', image) if pictured else ""
        return (
            f'<figure class="player {player.kind}"><a href="{address}" rel="noopener noreferrer nofollow"'
            f' data-player="{escape(frame_of(player.page))}"><span class="player-picture">{image}</span>'
            f'<span class="player-title" dir="auto">{title}</span>'
            f'<span class="player-site">{"" if title == player.site else player.site}</span>{length}</a></figure>'
        )

    return _ALONE.sub(card, html)


def with_first_picture_at_once(html: str) -> str:
    """The article with a picture near its beginning, if there is one, loaded before what is further down.

    Not one within a line, which is an icon.

    >>> with_first_picture_at_once('Hi <img src="a.png" loading="lazy"><p><img src="b.png" loading="lazy"></p>')
    'Hi <img src="a.png" loading="lazy"><p><img src="b.png" fetchpriority="high"></p>'
    """
    return _PICTURE_ALONE.sub(r'\1fetchpriority="high"', html[:BEGINNING], 1) + html[BEGINNING:]


def with_regions(html: str, name: str) -> str:
    """The article with each table in a region, and with code, that the keyboard can scroll.

    >>> with_regions("<table><tr><td>1</td></tr></table>", "Table")
    '<div class="wide" role="region" tabindex="0" aria-label="Table 1"><table><tr><td>1</td></tr></table></div>'
    """
    depth = number = 0

    def region(match: re.Match[str]) -> str:
        nonlocal depth, number
        depth += -1 if match[1] else 1
        if match[1]:
            return match[0] if depth else f"{match[0]}</div>"
        if depth > 1:
            return match[0]
        number += 1
        label = escape(f"{name} {number}")
        return f'<div class="wide" role="region" tabindex="0" aria-label="{label}">{match[0]}'

    return _TABLE.sub(region, html).replace("<pre", '<pre tabindex="0"')


def clock(seconds: float) -> str:
    """
    >>> clock(3_909.4), clock(65)
    ('1:05:09', '1:05')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
