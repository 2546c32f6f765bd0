"""Pages as publishers build them, made by hand: the source of each, its article, and what else stands on it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.algorithms import extraction_prose as prose

MENU = ("World", "Politics", "Business", "Sport", "Culture", "Weather")
LINES = (
    "Harbour office explains its new tariff for small boats",
    "Why the second tunnel was dug from the wrong side",
    "Goalkeeper scores twice and apologises to the ball",
    "Bank opens a branch in which nothing can be paid",
    "Beekeepers and vintners agree on the hours of spraying",
    "A glacier gives back a rucksack of 1958",
)


@dataclass(frozen=True, slots=True)
class Page:
    html: bytes
    text: str  # of the article, paragraphs apart by an empty line
    boilerplate: tuple[str, ...]  # that stands on the page and is none of the article


def wordpress() -> Page:
    """A theme of the usual kind: header, post, sharing buttons, author box, related posts, sidebar."""
    heading = "What the repair will cost"
    text = [*prose.BRIDGE[:3], heading, *prose.BRIDGE[3:]]
    body = "".join(f"<h2>{each}</h2>" if each == heading else f"<p>{each}</p>\n" for each in text)
    html = document(
        "Old bridge stays open to walkers",
        f"""<header id="masthead" class="site-header"><a class="custom-logo-link" href="/">The Marrow Messenger</a>
        <nav id="site-navigation" class="main-navigation"><ul id="primary-menu">{_menu()}</ul></nav></header>
        <div id="content" class="site-content"><div id="primary" class="content-area"><main id="main">
        <article id="post-417" class="post type-post status-publish hentry category-town">
        <header class="entry-header"><h1 class="entry-title">Old bridge stays open to walkers</h1>
        <div class="entry-meta">Posted on <time datetime="2026-03-04T07:30:00+01:00">4 March 2026</time> by
        <span class="author vcard"><a href="/author/ada">Ada Moor</a></span></div></header>
        <div class="entry-content">{body}
        <div class="sharedaddy sd-sharing-enabled"><h3 class="sd-title">Share this:</h3><ul><li>
        <a href="/?share=facebook">Facebook</a></li><li><a href="/?share=x">X</a></li></ul></div></div>
        <footer class="entry-footer"><span class="tags-links">Tagged <a href="/tag/bridge">bridge</a>,
        <a href="/tag/council">council</a></span></footer></article>
        <div class="author-box"><h4>Ada Moor</h4><p>Ada Moor is a reporter who has covered the town hall since 2011 and
        keeps goats.</p></div>{_related()}
        <div id="respond" class="comment-respond"><h3>Leave a Reply</h3><form><p>Your email address will not be
        published. Required fields are marked *</p><textarea></textarea></form></div></main></div>
        <aside id="secondary" class="widget-area"><section class="widget widget_recent_entries"><h2>Recent Posts</h2>
        <ul>{_links()}</ul></section><section class="widget widget_text"><p>The Messenger is printed every Thursday and
        can be had at all kiosks of the district for two crowns.</p></section></aside></div>
        <footer id="colophon" class="site-footer"><p>Proudly powered by WordPress. All rights reserved.</p></footer>""",
    )
    return _page(html, text, "Share this", "keeps goats", "Tagged", "Required fields", "all kiosks", LINES[0])


def amp() -> Page:
    text = prose.FERRY
    paragraphs = [f'<p class="i-amphtml-element">{each}</p>' for each in text]
    paragraphs.insert(2, '<amp-ad width="300" height="250" type="doubleclick"><div>Your advert here</div></amp-ad>')
    paragraphs.insert(1, '<amp-img src="/ferry.jpg" width="800" height="500" layout="responsive"></amp-img>')
    html = f"""<!doctype html><html amp lang="en"><head><meta charset="utf-8"><title>Ferry freed by the tide</title>
        <script async src="https://cdn.ampproject.org/v0.js"></script><style amp-custom>body {{ margin: 0 }}</style>
        </head><body><amp-sidebar id="sidebar"><ul>{_menu()}</ul></amp-sidebar>
        <header class="amp-header"><a href="/">Bay Wire</a></header>
        <article class="amp-article"><header><h1>Ferry freed by the tide</h1><p class="amp-meta">Mon 2 March 2026</p>
        </header><div class="amp-article-content">{"".join(paragraphs)}</div></article>
        <amp-social-share type="email"></amp-social-share><section class="amp-related"><h3>More from Bay Wire</h3>
        <ul>{_links()}</ul></section><footer class="amp-footer"><p>© Bay Wire. View the full version of this page to
        change your settings.</p></footer></body></html>"""
    return _page(html, text, "Your advert here", "More from Bay Wire", "View the full version", LINES[3])


def nineties() -> Page:
    """Tables inside tables, <font>, capitals, attributes without quotes, no class anywhere."""
    cells = "".join(f'<TR><TD BGCOLOR=#cccccc><A HREF="{name}.htm"><FONT SIZE=2>{name}</FONT></A>' for name in MENU)
    body = "<P>".join(f'<FONT FACE="Times" SIZE=3>{each}</FONT>' for each in prose.MUSEUM)
    html = f"""<HTML><HEAD><TITLE>All maps of a schoolteacher - Valley Gazette</TITLE></HEAD><BODY BGCOLOR=white>
        <TABLE WIDTH=760 BORDER=0><TR><TD COLSPAN=3><CENTER><IMG SRC=logo.gif><BR>The Valley Gazette, founded 1871
        </CENTER><TR><TD WIDTH=120 VALIGN=top><TABLE>{cells}</TABLE><TD WIDTH=480 VALIGN=top>
        <FONT SIZE=5><B>All maps of a schoolteacher</B></FONT><P>{body}<P>
        <TD WIDTH=160 VALIGN=top><TABLE><TR><TD><B>Sponsors</B><TR><TD><A HREF=tyres.htm>Tyres, cheap and round</A>
        <TR><TD><A HREF=guest.htm>Sign our guestbook</A></TABLE><TR><TD COLSPAN=3><HR><CENTER><FONT SIZE=1>You are
        visitor number 004217. Best viewed at 800 by 600.</FONT></CENTER></TABLE></BODY></HTML>"""
    return _page(html, prose.MUSEUM, "founded 1871", "guestbook", "visitor number", "Tyres")


def breaks_only() -> Page:
    body = "<br><br>\n".join(prose.LIBRARY)
    html = document(
        "A million books by boat",
        f"""<div id=top>{_menu("span")}</div><div id=wrap><div id=left><h1>A million books by boat</h1>
        <div class=text>{body}</div></div><div id=right><b>Most read</b><br>{"<br>".join(_anchors())}</div></div>
        <div id=bottom>Imprint | Contact | Privacy<br>Nothing on these pages may be copied without asking us</div>""",
    )
    return _page(html, prose.LIBRARY, "Most read", "may be copied", LINES[1])


def comments_longer_than_the_article() -> Page:
    comments = "".join(
        f'<li class="comment"><div class="comment-author">reader{number}</div><div class="comment-meta">{number} '
        f'hours ago</div><div class="comment-content"><p>{each}</p></div><a class="reply" href="#">Reply</a></li>'
        for number, each in enumerate(prose.COMMENTS, 2)
    )
    html = document(
        "Cape Sorrow keeps its lighthouse",
        f"""{_header()}<main><article class="story"><h1>Cape Sorrow keeps its lighthouse</h1>
        <div class="story-body">{_paragraphs(prose.LIGHTHOUSE)}</div></article>
        <section id="comments" class="comments-area"><h2>{len(prose.COMMENTS)} comments</h2>
        <ol class="comment-list">{comments}</ol></section></main>{_footer()}""",
    )
    return _page(html, prose.LIGHTHOUSE, "hours ago", "I climbed those stairs", "Two coats", "shadow of the tower")


def list_article() -> Page:
    items = "".join(f"<h2>{number}. {name}</h2><p>{words}</p>" for number, (name, words) in enumerate(prose.WALKS, 1))
    text = [prose.WALKS_LEAD]
    for number, (name, words) in enumerate(prose.WALKS, 1):
        text += [f"{number}. {name}", words]
    html = document(
        "Five walks for wet feet",
        f"""{_header()}<main><article><h1>Five walks for wet feet</h1><div class="article-body">
        <p>{prose.WALKS_LEAD}</p>{items}<h2>What to bring</h2><ul><li>Boots that have been wet before</li>
        <li>A map on paper, since the valleys have no signal</li><li>Coins for the bus, which takes no cards</li></ul>
        <p>{prose.WALKS_END}</p></div></article>{_related()}</main>{_footer()}""",
    )
    text += ["What to bring", "Boots that have been wet before", "A map on paper, since the valleys have no signal"]
    text += ["Coins for the bus, which takes no cards", prose.WALKS_END]
    return _page(html, text, *LINES[:2], "All rights reserved")


def live_blog() -> Page:
    posts = "".join(
        f'<div class="liveblog-entry"><time>{clock}</time><h3>{title}</h3><p>{words}</p></div>'
        for clock, title, words in prose.STORM
    )
    text = [prose.STORM_LEAD, *(f"{clock}\n\n{title}\n\n{words}" for clock, title, words in prose.STORM)]
    html = document(
        "Storm over the coast: as it happens",
        f"""{_header()}<main><article class="liveblog"><h1>Storm over the coast: as it happens</h1>
        <p class="liveblog-intro">{prose.STORM_LEAD}</p><div class="liveblog-entries">{posts}</div></article>
        <aside class="sidebar"><h2>Most read</h2><ul>{_links()}</ul></aside></main>{_footer()}""",
    )
    return _page(html, text, "Most read", LINES[4], "All rights reserved")


def gallery() -> Page:
    """Pictures between the paragraphs: their captions belong to the pictures, not to the text."""
    pieces = [f"<p>{each}</p>" for each in prose.MARKET]
    for place, caption in enumerate(prose.MARKET_CAPTIONS):
        figure = (
            f'<figure class="gallery-item"><img src="/pictures/{place}.jpg" width="1200" height="800" alt="Market">'
            f"<figcaption>{caption}</figcaption></figure>"
        )
        pieces.insert(2 * place + 1, figure)
    html = document(
        "A market of horses",
        f"""{_header()}<main><article><h1>A market of horses</h1><div class="article-text">{"".join(pieces)}</div>
        </article>{_related()}</main>{_footer()}""",
    )
    return _page(html, prose.MARKET, "Photo: Lena Ort", LINES[0], "All rights reserved")


def chinese() -> Page:
    menu = "".join(
        f"<li><a href=/{place}>{name}</a></li>" for place, name in enumerate(("首页", "国际", "财经", "体育"))
    )
    lines = ("港务局解释小船新收费标准的由来", "银行开设一家什么都不能付的分行", "冰川归还一只一九五八年的背包")
    related = "".join(f"<li><a href=/n/{place}.shtml>{line}</a></li>" for place, line in enumerate(lines))
    html = f"""<!doctype html><html lang="zh-CN"><head><meta charset="utf-8">
        <title>老铁桥继续供行人使用_河谷新闻网</title></head>
        <body><div class="nav"><ul>{menu}</ul></div><div class="main"><h1>老铁桥继续供行人使用</h1>
        <div class="info">2026年03月04日 07:30 来源：河谷新闻网 <a href="/c">我要评论</a></div>
        <div id="content" class="article-content">{_paragraphs("　　" + each for each in prose.CHINESE)}</div>
        <div class="editor">（责任编辑：王小河）</div>
        <div class="related"><h3>相关阅读</h3><ul>{related}</ul></div></div>
        <div class="footer">河谷新闻网版权所有 未经书面授权禁止使用</div></body></html>"""
    return _page(html, prose.CHINESE, "我要评论", "相关阅读", "版权所有", lines[0])


def arabic() -> Page:
    menu = "".join(f"<li><a href=/{place}>{name}</a></li>" for place, name in enumerate(("الرئيسية", "رياضة")))
    lines = ("سلطة الميناء تشرح تعرفتها الجديدة للقوارب الصغيرة", "حارس مرمى يسجل هدفين ثم يعتذر للكرة")
    related = "".join(f"<li><a href=/n/{place}>{line}</a></li>" for place, line in enumerate(lines))
    html = f"""<!doctype html><html lang="ar" dir="rtl"><head><meta charset="utf-8">
        <title>الجسر القديم يبقى مفتوحا</title>
        </head><body dir="rtl"><header><nav><ul>{menu}</ul></nav></header><main><article>
        <h1>الجسر القديم يبقى مفتوحا أمام المشاة</h1><p class="post-date">4 مارس 2026</p>
        <div class="article-body">{_paragraphs(prose.ARABIC)}</div></article>
        <aside class="related-news"><h3>اقرأ أيضا</h3><ul>{related}</ul></aside></main>
        <footer><p>جميع الحقوق محفوظة لصحيفة الوادي</p></footer></body></html>"""
    return _page(html, prose.ARABIC, "اقرأ أيضا", "جميع الحقوق محفوظة", lines[1])


def paywalled() -> Page:
    """What everybody may read, then an offer."""
    html = document(
        "Nine days before the harvest, nobody has the keys",
        f"""{_header()}<main><article><h1>Nine days before the harvest, nobody has the keys</h1>
        <div class="article-body">{_paragraphs(prose.HARVEST_TEASER)}</div>
        <div class="paywall"><h2>Read on with a subscription</h2><p>Get unlimited access to all articles, podcasts and
        puzzles for one crown in the first month. You can cancel online at any time.</p><ul><li>Four weeks for one
        crown</li><li>The printed paper on Sundays</li></ul><a href="/subscribe">Subscribe now</a><p>Already a member?
        <a href="/login">Log in</a></p></div></article>{_related()}</main>{_footer()}""",
        head='<script type="application/ld+json">{"@type": "NewsArticle", "isAccessibleForFree": false}</script>',
    )
    return _page(html, prose.HARVEST_TEASER, "unlimited access", "Already a member", "one crown", LINES[2])


def cookie_banner() -> Page:
    """More text about cookies than of the article, in front of everything else."""
    html = document(
        "Frost on the lower terraces",
        f"""<div id="consent-dialog" class="cookie-banner" role="dialog"><h2>Your choices</h2>
        {_paragraphs(prose.CONSENT)}<button>Accept all</button><button>Reject all</button></div>
        {_header()}<main><article><h1>Frost on the lower terraces</h1>
        <div class="article-body">{_paragraphs(prose.ORCHARD)}</div></article></main>{_footer()}""",
    )
    return _page(html, prose.ORCHARD, "We value your privacy", "842 partners", "Advertising partners", "Your choices")


def teasers_between_paragraphs() -> Page:
    pieces = [f"<p>{each}</p>" for each in prose.STRIKE]
    boxes = (
        f'<div class="related-inline"><h4>Related</h4><a href="/n/0">{LINES[0]}</a></div>',
        f'<p><strong>Read more: <a href="/n/1">{LINES[1]}</a></strong></p>',
        f'<aside class="teaser"><a href="/n/2"><img src="/2.jpg"><h3>{LINES[2]}</h3><p>The ball has not answered.</p>'
        "</a></aside>",
        '<div class="newsletter-signup"><p>Get our letter of the morning: sign up here.</p></div>',
    )
    for place, box in enumerate(boxes):
        pieces.insert(2 * place + 1, box)
    html = document(
        "Buses stand still in four towns",
        f"""{_header()}<main><article><h1>Buses stand still in four towns</h1>
        <div class="article__content">{"".join(pieces)}</div></article></main>{_footer()}""",
    )
    return _page(html, prose.STRIKE, *LINES[:3], "Read more", "The ball has not answered", "letter of the morning")


def split_in_two() -> Page:
    """An advertisement has cut the text into two elements."""
    html = document(
        "A pulse from a dwarf galaxy",
        f"""{_header()}<div class="page"><h1>A pulse from a dwarf galaxy</h1>
        <div class="body-text">{_paragraphs(prose.OBSERVATORY[:3])}</div>
        <div class="ad-slot"><span>Advertisement</span><p>Binoculars for every purse: look twice, pay once.</p></div>
        <div class="body-text">{_paragraphs(prose.OBSERVATORY[3:])}</div></div>{_related()}{_footer()}""",
    )
    return _page(html, prose.OBSERVATORY, "Advertisement", "Binoculars", LINES[1])


def deeply_nested() -> Page:
    """Paragraphs that are no <p>, each in elements of its own, forty deep, with class names that say nothing."""
    blocks = "".join(f'<div class="c7"><div class="x2"><div>{each}</div></div></div>' for each in prose.CHOIR)
    html = document(
        "The youngest conductor of the oldest choir",
        f"""<div class="a1"><div class="m3">{"".join(_anchors())}</div>{"<div>" * 40}
        <h1>The youngest conductor of the oldest choir</h1>{blocks}{"</div>" * 40}
        <div class="z9"><div>© 2026 Quay Courier. All rights reserved.</div></div></div>""",
    )
    return _page(html, prose.CHOIR, LINES[5], "Quay Courier")


TEMPLATES: tuple[Callable[[], Page], ...] = (
    wordpress, amp, nineties, breaks_only, comments_longer_than_the_article, list_article, live_blog, gallery, chinese,
    arabic, paywalled, cookie_banner, teasers_between_paragraphs, split_in_two, deeply_nested,
)  # fmt: skip


def document(title: str, body: str, *, head: str = "") -> str:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title} - The Paper</title>{head}</head>'
        f"<body>{body}</body></html>"
    )


def _page(html: str, text: Iterable[str], *boilerplate: str) -> Page:
    return Page(html.encode(), "\n\n".join(text), boilerplate)


def _paragraphs(texts: Iterable[str]) -> str:
    return "\n".join(f"<p>{each}</p>" for each in texts)


def _menu(tag: str = "li") -> str:
    return "".join(f'<{tag}><a href="/{name.lower()}">{name}</a></{tag}> ' for name in MENU)


def _anchors() -> list[str]:
    return [f'<a href="/news/{place}">{line}</a>' for place, line in enumerate(LINES)]


def _links() -> str:
    return "".join(f"<li>{anchor}</li>" for anchor in _anchors())


def _header() -> str:
    return f'<header class="page-header"><a class="logo" href="/">The Paper</a><nav><ul>{_menu()}</ul></nav></header>'


def _related() -> str:
    return f'<section class="related-posts"><h3>You may also like</h3><ul>{_links()}</ul></section>'


def _footer() -> str:
    return (
        '<footer class="page-footer"><p>© The Paper. All rights reserved. Reproduction only with permission.</p>'
        '<ul><li><a href="/imprint">Imprint</a></li><li><a href="/privacy">Privacy</a></li></ul></footer>'
    )
