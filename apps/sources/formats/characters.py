"""Decoding of responses: character sets, and repairs of common mistakes of publishers."""

import codecs
import html
import re

_BYTE_ORDER_MARKS = [  # the four-byte marks first: they begin with two-byte ones
    (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_BE, "utf-16"), (codecs.BOM_UTF16_LE, "utf-16"),
]  # fmt: skip
_UNMARKED = [  # how "<?xm" or "<" begins where no mark was set
    (b"\x00\x00\x00<", "utf-32-be"), (b"<\x00\x00\x00", "utf-32-le"), (b"\x00<\x00", "utf-16-be"),
    (b"<\x00", "utf-16-le"), (b"\x4c\x6f\xa7\x94", "cp037"),
]  # fmt: skip
# Publishers declare the left one and use the right one, a superset (WHATWG Encoding).
_MEANT = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "euc_kr": "cp949",
          "iso8859-9": "cp1254", "shift_jis": "cp932", "tis-620": "cp874", "big5": "big5hkscs"}  # fmt: skip
_BYTE_CHARSETS = re.compile(
    r"utf-8|ascii|iso8859|cp\d|koi8|gb|big5|euc|shift_jis|mac-|tis|johab|iso2022_|hz|kz1048|ptcp154"
)
_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_PROLOG = re.compile(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)["']""")

_CONTROLS = bytes(set(range(32)) - {9, 10, 13})
# Control characters from 0x80 to 0x9f come from Windows, where they are quotation marks and dashes.
_WINDOWS_REFERENCE = re.compile(rb"&#(?:0*(1[2-5]\d)|[xX]0*([89][0-9a-fA-F]));")
_WINDOWS_CHARACTER = re.compile(rb"\xc2([\x80-\x9f])")
# Programs that count in UTF-16 refer to the halves of a character beyond U+FFFF, which XML forbids.
_HALF_REFERENCE = (
    rb"&#(?:0*(?:5529[6-9]|55[3-9]\d\d|56\d\d\d|57[0-2]\d\d|573[0-3]\d|5734[0-3])|[xX]0*[dD][89a-fA-F][0-9a-fA-F]{2});"
)
_HALVES = re.compile(rb"(?:%b)+" % _HALF_REFERENCE)
_REFERRED = re.compile(rb"&#(?:(\d+)|[xX]([0-9a-fA-F]+));")

# Sections of CDATA are matched to leave them unchanged, also an unclosed one, or the search would take quadratic time.
_REFERENCE = re.compile(rb"<!\[CDATA\[.*?(?:\]\]>|\Z)|&(?:(\w{1,32});|(?!#\d+;|#x[0-9a-fA-F]+;))", re.DOTALL | re.ASCII)
_ROOT = re.compile(rb"<(?:rss|feed|[\w-]+:RDF)(?=[\s>])", re.IGNORECASE)
_PREFIX = re.compile(rb"<([A-Za-z_][\w-]{0,31}):[A-Za-z_]", re.ASCII)
_DECLARED = re.compile(rb"\sxmlns:([\w-]{1,32})\s*=", re.ASCII)
MAX_PREFIXES = 50
_XML_ENTITIES = {b"amp", b"lt", b"gt", b"quot", b"apos"}


def to_utf8(content: bytes, content_type: str) -> tuple[bytes, tuple[str, ...]]:
    """The document in UTF-8, without mark and outer white space, its control characters mended; and the problems.

    The byte order mark goes before the charset of the header, which goes before the document's own declaration
    (RFC 7303). A character set that cannot have been meant gives way to UTF-8 and then to Windows' Latin letters.
    """
    problems = []
    declared = _declared_charsets(content, content_type)
    text, charset = _decoded(content, declared)
    if declared and charset != declared[0]:
        problems.append(f"The document declares the character set {declared[0]}, but it reads as {charset}.")
    utf8 = text.encode("utf-8", "replace")
    readable = utf8.translate(None, _CONTROLS)
    if len(readable) != len(utf8):
        problems.append("Control characters were removed.")
    readable = _WINDOWS_CHARACTER.sub(lambda match: _windows(match[1]), readable)
    readable = with_halves_joined(_WINDOWS_REFERENCE.sub(_windows_reference, readable))
    return readable.strip(), tuple(problems)


def is_utf8(content: bytes) -> bool:
    """Whether bytes are UTF-8, though perhaps cut in the middle of a character."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(content)
    except UnicodeDecodeError:
        return False
    return True


def with_halves_joined(utf8: bytes) -> bytes:
    """The document with references to surrogates as the characters that they are halves of; U+FFFD for one alone.

    >>> with_halves_joined(b"<title>Tea &#55356;&#xDF75; &#xD83C;</title>").decode()
    '<title>Tea 🍵 \N{REPLACEMENT CHARACTER}</title>'
    """
    return _HALVES.sub(_joined, utf8)


def _joined(match: re.Match[bytes]) -> bytes:
    codes = (int(decimal) if decimal else int(hexadecimal, 16) for decimal, hexadecimal in _REFERRED.findall(match[0]))
    halves = "".join(map(chr, codes)).encode("utf-16-le", "surrogatepass")
    return halves.decode("utf-16-le", "replace").encode()


def _decoded(content: bytes, declared: list[str]) -> tuple[str, str]:
    for charset in (*declared, "utf-8"):
        try:
            return content.decode(charset), charset
        except (UnicodeError, LookupError):
            continue
    # Publishers cut texts in the middle of a character: a few bad bytes do not make a whole document Latin.
    lenient = content.decode("utf-8-sig", "replace")
    broken = lenient.count("\N{REPLACEMENT CHARACTER}")
    if len(content) - len(lenient) > 10 * broken:
        return lenient, "utf-8 with broken characters"
    try:
        return content.decode("cp1252"), "cp1252"
    except UnicodeError:
        return content.decode("latin-1"), "latin-1"


def _declared_charsets(content: bytes, content_type: str) -> list[str]:
    for mark, charset in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return [charset]
    for beginning, charset in _UNMARKED:
        if content.startswith(beginning):
            return [charset]
    header = _CHARSET.search(content_type)
    prolog = _PROLOG.match(content[:1024])
    names = [match[1] for match in (header,) if match] + [match[1].decode("ascii") for match in (prolog,) if match]
    return [charset for name in names if (charset := _meant(name))]


def _meant(name: str) -> str:
    """The character set of a name; "" for an unknown one or one that does not encode texts."""
    try:
        charset = codecs.lookup(name).name
    except (LookupError, ValueError):
        return ""
    # Python's codecs include some that are not for text, and some that take quadratic time.
    return _MEANT.get(charset, charset) if _BYTE_CHARSETS.match(charset) else ""


def _windows(character: bytes) -> bytes:
    return character.decode("cp1252", "replace").encode()


def _windows_reference(match: re.Match[bytes]) -> bytes:
    code = int(match[1]) if match[1] else int(match[2], 16)
    return _windows(bytes([code])) if 0x80 <= code <= 0x9F else match[0]


def with_references_mended(utf8: bytes) -> bytes:
    """The document with the entities of HTML as characters, and every other bare ampersand escaped.

    >>> with_references_mended(b"<p>Fish & chips&nbsp;&lt; &bogus;<![CDATA[ & ]]></p>").decode()
    '<p>Fish &amp; chips\\xa0&lt; &amp;bogus;<![CDATA[ & ]]></p>'
    """
    return _REFERENCE.sub(_mended_reference, utf8)


def with_prefixes_declared(utf8: bytes) -> bytes:
    """The feed with every prefix of elements declared: one that never was becomes its own namespace.

    >>> with_prefixes_declared(b"<rss><dc:date/></rss>").decode()
    '<rss xmlns:dc="dc"><dc:date/></rss>'
    """
    prefixes = sorted(set(_PREFIX.findall(utf8)) - {b"xml", *_DECLARED.findall(utf8)})
    declarations = b"".join(b' xmlns:%b="%b"' % (prefix, prefix) for prefix in prefixes[:MAX_PREFIXES])
    return _ROOT.sub(lambda match: match[0] + declarations, utf8, count=1) if declarations else utf8


def _mended_reference(match: re.Match[bytes]) -> bytes:
    whole, name = match[0], match[1]
    if whole.startswith(b"<") or name in _XML_ENTITIES:
        return whole
    character = html.unescape(whole.decode("ascii")) if name else "&"
    # What is left with an ampersand is no entity of HTML, or one of those that stand for markup.
    return b"&amp;" + whole[1:] if "&" in character or "<" in character or ">" in character else character.encode()
