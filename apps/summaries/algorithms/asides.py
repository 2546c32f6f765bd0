"""Sentences of an extracted text that are not of its report: credits, captions, share lines, notes of the publisher."""

import re

MAX_LENGTH = 300  # characters; longer sentences belong to the report
MIN_SENTENCES = 3  # that end with a mark, so that lines without one can be left out

_BEGINNING = re.compile(
    r"""
    # credits and captions
    (?:photo(?:graph)?s?|picture|image|video|illustration|graphic|caption|credit|source|file\sphoto|pictured|watch)
        (?:\s(?:by|credit|source|caption|via))?\s?[:|©]
    | image\s(?:source|caption|copyright)\b | media\scaption\b | getty\simages | (?:photo|picture|image)s?\sby\b
    | ©|\(c\)\s|copyright\s?(?:©|\(c\)|\d)
    # bylines and notes about the report
    | by\s(?-i:[A-Z][\w.'’-]+(?:\s[A-Z][\w.'’-]+){1,3})(?:,\s[\w\s]{1,40})?\W*$
    | (?:reporting|writing|editing|additional\sreporting|edited|compiled)\s(?:and\s\w+\s)?by\b
    | (?:last\s)?(?:updated|published|posted)\b[^.!?]{0,20}\d[^.!?]{0,40}$
    | this\s(?:article|story|post)\s(?:was|has\sbeen|first|originally)\b
    # calls to act
    | (?:read|see|hear|learn|find\sout|click|tap|sign|subscribe|follow|like|share|download|listen|watch|join|get|
        visit)\s
        (?:more\b|also\b|up\b|here\b|now\b|us\b|to\s(?:our|read)\b|our\b|this\s(?:article|story|video|on)\b|@|below\b)
    | (?:related|recommended|more\son|more\sfrom|advertisement|sponsored|trending|don[’']t\smiss)\b
        (?:\s?[:|]|[^.!?]{0,60}$)
    | (?:story\scontinues|continue\sreading)\b | (?:privacy\spolicy|terms\sof\s(?:use|service))[^.!?]{0,60}$
    # 图为 ; （新华社记者 李明摄） ; 责任编辑：王芳
    | 图为|资料图|图片来源|图源|图\d?[:：]|原标题|来源[:：]|本文来源|(?:责任)?编辑[:：]|责编|校对[:：]
    | 审核[:：]|记者[:：]|作者[:：]|点击(?:查看|进入|图片|下载|观看|阅读|这里|此处)
    | 扫码|扫描二维码|更多(?:精彩|内容|资讯)|关注(?:我们|公众号)|版权(?:所有|归|声明)|转载请|未经授权|免责声明|广告\W*$
    """,
    re.VERBOSE | re.IGNORECASE,
)
_END = re.compile(
    r"""
    \((?:photo|picture|image|file|credit)\b[^)]{0,80}\)\W*$ | getty\simages\W*$
    | (?:/\s?|via\s)(?:ap|afp|reuters)(?:\sphoto)?\W*$
    | all\srights\sreserved\W*$ | contributed\sto\sthis\s(?:report|story|article)\W*$ | (?:摄|供图)[）)]?\W*$
    """,
    re.VERBOSE | re.IGNORECASE,
)
MAX_END_LENGTH = 100  # characters
_MARK = re.compile(r"[.!?…؟۔।॥။។。！？｡][\s\"'”’»›)\]」』】）》〉]*$")


def is_aside(sentence: str) -> bool:
    """Whether a sentence is a credit, a caption, a byline or a note of the publisher, by how it begins or ends.

    >>> [is_aside(each) for each in ("Photograph: Jane Doe/Reuters", "Read more: Storm hits Rome", "图为总理在柏林。")]
    [True, True, True]
    >>> is_aside("Photographs of the storm show a harbour."), is_aside("Sources think that the mayor slept.")
    (False, False)
    """
    if len(sentence) > MAX_LENGTH:
        return False
    return is_caption(sentence) or _BEGINNING.match(sentence.lstrip("\"'“‘([（【- •*")) is not None


def is_caption(line: str) -> bool:
    """Whether a line ends with a credit, so that all its sentences are a caption.

    >>> is_caption("The bridge on Monday. Cars queue. Jane Doe/Getty Images")
    True
    """
    return len(line) <= MAX_LENGTH and _END.search(line[-MAX_END_LENGTH:]) is not None


def ends_with_mark(sentence: str) -> bool:
    """Whether a sentence ends as sentences do; headings, captions and lists often do not.

    >>> ends_with_mark("He answered “no.”"), ends_with_mark("What we know"), ends_with_mark("他说：“不。”")
    (True, False, True)
    """
    return _MARK.search(sentence[-MAX_END_LENGTH:]) is not None
