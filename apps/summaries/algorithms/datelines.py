"""Datelines: place, date and agency before the first sentence of a report."""

import re

_AGENCIES = (
    "CNN|AP|Associated Press|AFP|Reuters|UPI|ANI|PTI|IANS|Xinhua|TASS|Bloomberg|"
    "dpa|DPA|APA|sda|ANSA|EFE|ANP|TT|NTB|Ritzau"
)
_DATELINE = re.compile(
    rf"""
    \s*(?:
        # WASHINGTON, Jan 5 (Reuters) - ; (CNN) ; Berlin (dpa) -
        (?:[^\W\d_][\w.,/'’ -]{{0,50}}\s)?\((?:{_AGENCIES})(?:/[\w &/]{{1,30}}|(?:\s[A-Z]\w{{1,15}}){{1,2}})?\)
            (?![.,;:])\s*(?:[-–—]{{1,2}}\s*)?
        # LONDON, England -- ; МОСКВА, 5 янв — РИА Новости.
        | (?-i:[A-Z][A-Z.'’ -]{{2,30}}(?:,[\w.,/ ]{{1,30}})?)\s(?:—|–|--)\s
        | [А-ЯЁ-]{{3,30}}(?:,?[\w.,/ ]{{1,30}})?\s[—–-]\s[\w\s/-]{{2,30}}\.\s
        # 新华社柏林1月22日电（记者商婧） ; 【ワシントン＝共同】 ; ［東京 １日 ロイター］ -
        | [\u4e00-\u9fff]{{1,6}}[社网報报][^，。,\n]{{0,30}}?[日月][^，。,\n]{{0,6}}[电電讯]
            (?:（[^）\n]{{1,60}}）)?(?:\s*[:：]\s*)?
        | [【［][^】］\n]{{1,40}}[】］]\s*(?:[-―—]\s*)?
    )\s*
    """,
    re.VERBOSE,
)


def dateline_end(text: str) -> int:
    """How many characters of the text are its dateline, 0 if it has none.

    Examples
    --------
    >>> text = "WASHINGTON, Jan 5 (Reuters) - The Senate agreed."
    >>> text[dateline_end(text):]
    'The Senate agreed.'
    >>> text = "新华社柏林1月22日电（记者商婧）德国总理访问法国。"
    >>> text[dateline_end(text):]
    '德国总理访问法国。'
    >>> dateline_end("The Labour Party (LAB) agreed.")
    0
    """
    match = _DATELINE.match(text)
    return match.end() if match else 0
