"""Plain text, markup and addresses as feeds write them, with a limit on the length of each."""

import html
import re

import ada_url

MAX_TITLE = 1_000  # characters, as all below
MAX_IDENTIFIER = 4_000  # guids and addresses
MAX_DESCRIPTION = 4_000  # of feeds
MAX_CONTENT = 2_000_000
MAX_LANGUAGE = 35  # RFC 5646, section 4.4.1
MAX_NAME = 200  # of categories and media types

# Titles such as "Why List<String> fails" must survive, so only what HTML knows counts as a tag.
_TAGS = re.compile(
    r"</?(?:a|abbr|acronym|b|big|blockquote|br|center|cite|code|del|dfn|div|em|font|h[1-6]|hr|i|img|ins|kbd|li|mark|nobr|ol|p|"
    r"pre|q|s|samp|script|small|span|strike|strong|style|sub|sup|table|tbody|td|th|tr|tt|u|ul|var|wbr)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|hellip|[lr][sd]quo|[nm]dash|#\d{2,6}|#x[0-9a-fA-F]{2,5});")
_PAIR = re.compile(r"<(a|b|code|em|i|span|strong|sub|sup|u)\b[^<>]*>([^<>]*)</\1>", re.IGNORECASE)
_COMMENTS = re.compile(r"<!--.*?-->", re.DOTALL)
_NEVER_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_RELATIVE_ATTRIBUTE = re.compile(r"""(\s(?:href|src|poster|cite)\s*=\s*)(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)


def without_controls(text: str) -> str:
    """The text without NUL, other control characters and lone surrogates: what neither XML nor Postgres can hold."""
    return _NEVER_TEXT.sub("", text)


def one_line(text: str, limit: int = MAX_TITLE) -> str:
    """The text with every run of white space made one space, cut at the limit."""
    return " ".join(text[: 4 * limit].split())[:limit].rstrip() if text else ""


def plain_text(markup: str, limit: int = MAX_TITLE) -> str:
    """The words of a short piece of HTML: tags removed, entities decoded, on one line.

    >>> plain_text("Fish &amp; <b>chips</b>, List<String>")
    'Fish & chips, List<String>'
    """
    markup = markup[: 8 * limit]
    if "<" in markup:
        end = markup.rfind("-->") + 3  # beyond it no comment is closed, and each search would take long
        markup = _TAGS.sub("", _COMMENTS.sub("", markup[:end]) + markup[end:])
    if "&" in markup:
        markup = without_controls(html.unescape(markup))
    return one_line(markup, limit)


def unescaped_title(title: str) -> str:
    """A parsed title without what publishers escape once more than the format requires.

    >>> unescaped_title("Fish &amp;amp; &lt;b&gt;chips&lt;/b&gt;, List<String>")
    'Fish & chips, List<String>'
    """
    for _ in range(2):
        if _ENTITY.search(title):
            title = without_controls(html.unescape(title))
    return one_line(_PAIR.sub(r"\2", title))


def escaped(text: str) -> str:
    """Plain text as HTML that shows it."""
    return html.escape(text, quote=False)


def paragraphs(text: str) -> str:
    """Plain text whose line breaks mean something, as HTML.

    >>> paragraphs("One\\nTwo\\n\\nThree")
    '<p>One<br>Two</p><p>Three</p>'
    """
    blocks = re.split(r"\n\s*\n", escaped(text.strip()).replace("\r\n", "\n"))
    return "".join(f"<p>{block.strip()}</p>" for block in blocks if block.strip()).replace("\n", "<br>")


def web_address(reference: str | None, base: str = "") -> str:
    """The absolute http(s) address that the reference names, or "" when it names none.

    >>> web_address("../a b", "https://example.org/x/y/")
    'https://example.org/x/a%20b'
    >>> web_address("urn:uuid:1")
    ''
    """
    if not reference or len(reference) > MAX_IDENTIFIER:
        return ""
    try:
        address = ada_url.join_url(base, reference) if base else ada_url.normalize_url(reference)
    except ValueError:
        return ""
    return address if address.startswith(("http://", "https://")) and len(address) <= MAX_IDENTIFIER else ""


def with_absolute_addresses(markup: str, base: str) -> str:
    """The HTML with the addresses of its links and pictures made absolute."""

    def absolute(match: re.Match[str]) -> str:
        attribute, reference = match[1], html.unescape(match[2] or match[3] or "")
        address = web_address(reference, base) if not reference.startswith("#") else ""
        return f'{attribute}"{html.escape(address)}"' if address else match[0]

    return _RELATIVE_ATTRIBUTE.sub(absolute, markup)
