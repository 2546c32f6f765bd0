"""Sites that people paste into the box for addresses: most without a feed, each built in another way.

Written before the code that follows them, and not changed for it. A site is its documents by path, the path that is
entered, and the articles that following it has to show; or none, where there is nothing to follow.
"""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

HTML, RSS, JSON = "text/html; charset=utf-8", "application/rss+xml", "application/json"

ENGLISH = (
    "Council votes to keep the old bridge", "Storm closes three schools on the coast", "Bakery reopens after the fire",
    "Farmers expect a late harvest this year", "New ferry begins its trials in the bay", "Library extends its hours",
    "Hospital opens a ward for children", "Two towns share one fire engine", "Record crowd at the harbour festival",
    "Trains to the north run again", "Museum shows letters of a forgotten poet", "River falls after a week of floods",
)  # fmt: skip
GERMAN = (
    "Stadtrat will die alte Brücke erhalten", "Sturm schließt drei Schulen an der Küste", "Bäckerei öffnet nach Brand",
    "Bauern erwarten eine späte Ernte", "Neue Fähre beginnt mit Probefahrten", "Bücherei bleibt abends länger offen",
    "Klinik eröffnet Station für Kinder", "Zwei Orte teilen sich ein Löschfahrzeug", "Rekordbesuch beim Hafenfest",
)  # fmt: skip
POLISH = (
    "Rada miasta zachowa stary most", "Burza zamknęła trzy szkoły na wybrzeżu", "Piekarnia otwarta po pożarze",
    "Rolnicy spodziewają się późnych żniw", "Nowy prom zaczyna próby w zatoce", "Biblioteka dłużej otwarta",
    "Szpital otwiera oddział dla dzieci", "Pociągi na północ znów kursują",
)  # fmt: skip
CHINESE = (
    "市议会决定保留老桥", "暴风雨迫使沿海三所学校停课", "面包店火灾后重新开业", "农民预计今年收获较晚",
    "新渡轮开始在海湾试航", "图书馆延长开放时间", "医院开设儿童病房", "北上列车恢复运行",
)  # fmt: skip
ARABIC = (
    "المجلس يقرر الحفاظ على الجسر القديم", "العاصفة تغلق ثلاث مدارس على الساحل", "المخبز يفتح من جديد بعد الحريق",
    "المزارعون يتوقعون حصادا متأخرا", "العبارة الجديدة تبدأ تجاربها في الخليج", "المكتبة تمدد ساعات عملها",
)  # fmt: skip
NAVIGATION = ("Home", "News", "Sport", "Culture", "Weather", "Traffic", "Jobs", "Cars", "Houses", "Archive", "Search",
              "About us", "Contact", "Imprint", "Privacy", "Subscribe", "Sign in", "Help", "Shop", "Games")  # fmt: skip


class Site(NamedTuple):
    name: str
    documents: Mapping[str, tuple[str, bytes]]  # by path: type and content
    entered: str = "/"
    articles: Sequence[str] = ()  # titles that have to be shown
    reason: str = ""  # a part of the sentence that says why it cannot be followed


def page(body: str, head: str = "", language: str = "en", title: str = "The Daily") -> tuple[str, bytes]:
    begin = f'<!doctype html><html lang="{language}"><head><title>{title}</title>{head}</head>'
    return HTML, f"{begin}<body>{body}</body></html>".encode()


def rss(titles: Sequence[str]) -> tuple[str, bytes]:
    items = "".join(f"<item><title>{title}</title><link>/f/{n}</link></item>" for n, title in enumerate(titles))
    return RSS, f"<rss version='2.0'><channel><title>Feed</title>{items}</channel></rss>".encode()


def link(n: int, title: str) -> str:
    return f'<a href="/2026/05/{n}-story.html">{title}</a>'


def listed(titles: Sequence[str], item: str, around: str = "{}") -> str:
    """Items of one template, in which {link}, {title}, {address} and {n} are those of the article."""
    items = [
        item.format(link=link(n, title), title=title, address=f"/2026/05/{n}-story.html", n=n)
        for n, title in enumerate(titles)
    ]
    return around.format("".join(items))


def menu(names: Sequence[str] = NAVIGATION) -> str:
    return "<nav><ul>" + "".join(f'<li><a href="/{name.lower()}/">{name}</a></li>' for name in names) + "</ul></nav>"


FOOTER = "<footer>" + "".join(f'<p><a href="/s/{n}">{name}</a></p>' for n, name in enumerate(NAVIGATION)) + "</footer>"
TEXT = "<p>It was a long night for everyone in the town, and it is far from over yet.</p>"

# --- feeds that are named, or lie where feeds usually lie -------------------------------------------------------------
FEEDS = [
    Site("a named feed", {"/": page("", '<link rel="alternate" type="application/rss+xml" href="/n.xml">'),
                          "/n.xml": rss(ENGLISH)}, articles=ENGLISH[:3]),
    Site("two named feeds", {"/": page("", '<link rel="alternate" type="application/rss+xml" href="/n.xml" title="A">'
                                       '<link rel="alternate" type="application/rss+xml" href="/s.xml" title="B">'),
                             "/n.xml": rss(ENGLISH), "/s.xml": rss(GERMAN)}, articles=ENGLISH[:3]),
    Site("a feed that a link of the page leads to", {"/": page('<a href="/syndication/all.rss">RSS</a>'),
                                                     "/syndication/all.rss": rss(ENGLISH)}, articles=ENGLISH[:3]),
    Site("a feed at a usual path", {"/": page("<h1>Welcome</h1>"), "/feed.xml": rss(ENGLISH)}, articles=ENGLISH[:3]),
    Site("a feed where its program keeps it", {"/": page("", '<meta name="generator" content="WordPress 6.5">'),
                                               "/feed/": rss(GERMAN)}, articles=GERMAN[:3]),
    Site("a feed of a wrong type", {"/rss": ("text/plain", rss(ENGLISH)[1])}, "/rss", ENGLISH[:3]),
    Site("a podcast's page", {"/show": page("<h1>The Show</h1>" + TEXT,
                                            '<link rel="alternate" type="application/rss+xml" href="/show.rss">'),
                              "/show.rss": rss(ENGLISH[:4])}, "/show", ENGLISH[:3]),
]  # fmt: skip

# --- lists of articles ------------------------------------------------------------------------------------------------
BARE = page(menu() + listed(ENGLISH, "<li>{link}</li>", "<ul>{}</ul>") + FOOTER)
LISTS = [
    Site("a plain list", {"/": BARE}, articles=ENGLISH[:3]),
    Site("a named feed that is gone", {"/": page(listed(ENGLISH, "<li>{link}</li>", "<ul>{}</ul>"),
         '<link rel="alternate" type="application/rss+xml" href="/gone.xml">')}, articles=ENGLISH[:3]),
    Site("cards with a heading", {"/": page(menu() + listed(
        ENGLISH, '<div class="card"><h2>{link}</h2>' + TEXT + "</div>") + FOOTER)}, articles=ENGLISH[:3]),
    Site("articles with time and picture", {"/": page(menu() + listed(
        GERMAN, '<article><img src="/{n}.jpg"><h3>{link}</h3><time datetime="2026-05-0{n}T10:00">0{n}. Mai</time>'
                + TEXT + "</article>"), language="de")}, articles=GERMAN[:3]),
    Site("cards that are links", {"/": page(menu() + listed(
        POLISH, '<a class="tile" href="{address}"><span class="k">Region</span><h4>{title}</h4></a>'),
        language="pl")}, articles=POLISH[:3]),
    Site("rows of a table", {"/": page(listed(
        ENGLISH, "<tr><td>1.5.2026</td><td>{link}</td><td>Region</td></tr>", "<table>{}</table>"))},
        articles=ENGLISH[:3]),
    Site("a list of definitions", {"/": page(menu() + listed(
        ENGLISH, "<dt>{link}</dt><dd>It was a long night for all.</dd>", "<dl>{}</dl>"))}, articles=ENGLISH[:3]),
    Site("headings that are followed by text", {"/": page(menu() + listed(
        ENGLISH, "<h3>{link}</h3>" + TEXT, "<main>{}</main>") + FOOTER)}, articles=ENGLISH[:3]),
    Site("Chinese", {"/": page(listed(CHINESE, '<div class="news-item"><h2>{link}</h2><p>详情</p></div>'),
                               language="zh")}, articles=CHINESE[:3]),
    Site("Chinese beside a long menu", {"/": page(menu(("首页", "新闻", "体育", "文化", "天气", "交通", "招聘", "汽车"))
         + listed(CHINESE, "<li>{link}<span>5月1日</span></li>", "<ul class='list'>{}</ul>"), language="zh")},
         articles=CHINESE[:3]),
    Site("Arabic", {"/": page(menu() + listed(ARABIC, '<li class="post">{link}</li>', "<ol>{}</ol>"),
                              language="ar")}, articles=ARABIC[:3]),
    Site("two languages", {"/": page(listed(ENGLISH[:6], '<div class="n">{link}</div>')
                                     + listed(GERMAN[:3], '<div class="n">{link}</div>'))}, articles=ENGLISH[:3]),
    Site("a monthly archive", {"/2026/05": page(menu() + "<h1>May 2026</h1>" + listed(
        ENGLISH, "<p><b>May {n}</b> {link}</p>", '<div id="archive">{}</div>') + FOOTER)}, "/2026/05", ENGLISH[:3]),
    Site("a list that loads more", {"/": page(menu() + listed(
        ENGLISH[:8], '<li class="teaser"><h2>{link}</h2></li>', "<ul>{}</ul>") + '<button id="more">Load more</button>'
        + "<script>document.getElementById('more').onclick = load</script>")}, articles=ENGLISH[:3]),
    Site("classes that a program made up", {"/": page(menu() + listed(
        ENGLISH, '<div class="css-1x2y3z"><div class="sc-9fa81b">{link}</div></div>', '<div class="css-77aa1">{}</div>')
        + FOOTER)}, articles=ENGLISH[:3]),
    Site("no classes at all", {"/": page(listed(
        ENGLISH, "<div><div>{link}</div><div>It was a long night.</div></div>", "<div><div>{}</div></div>") + FOOTER)},
        articles=ENGLISH[:3]),
    Site("relative addresses and a base", {"/": page(listed(
        ENGLISH, '<li><a href="story-{n}.html">{title}</a></li>', "<ul>{}</ul>"),
        '<base href="/news/2026/">')}, articles=ENGLISH[:3]),
    Site("most read beside the list", {"/": page(menu() + listed(
        ENGLISH, '<section class="story"><h2>{link}</h2>' + TEXT + "</section>")
        + listed(ENGLISH[::-1][:5], "<li>{n}. {link}</li>", '<aside><h4>Most read</h4><ol>{}</ol></aside>') + FOOTER)},
        articles=ENGLISH[:3]),
    Site("every unknown path answers with the front page", {
        "/": BARE, **dict.fromkeys(("/feed", "/rss.xml", "/feed.xml", "/atom.xml", "/index.xml"), BARE)},
        articles=ENGLISH[:3]),
    Site("a picture and a heading that both lead there", {"/": page(menu() + listed(
        ENGLISH, '<div class="item"><a href="{address}"><img src="/{n}.png" alt=""></a><h2>{link}</h2></div>'))},
        articles=ENGLISH[:3]),
    Site("press releases of a company", {"/press": page(menu(NAVIGATION[:9]) + "<h1>Press</h1>" + listed(
        GERMAN, '<div class="row"><div class="col date">0{n}.05.2026</div><div class="col title">{link}</div></div>'),
        language="de")}, "/press", GERMAN[:3]),
    Site("few articles among many links", {"/": page(menu() + listed(
        ENGLISH[:4], '<div class="post"><h2>{link}</h2>' + TEXT + "</div>") + FOOTER)}, articles=ENGLISH[:3]),
    Site("XHTML with capital names", {"/": ("application/xhtml+xml", (
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>News</title></head><body>'
        + listed(ENGLISH, '<div class="entry"><h2>{link}</h2></div>') + "</body></html>").encode())},
        articles=ENGLISH[:3]),
]  # fmt: skip


# --- JSON -------------------------------------------------------------------------------------------------------------
def api(document: object, content_type: str = JSON) -> tuple[str, bytes]:
    return content_type, json.dumps(document).encode()


def records(titles: Sequence[str], title: str = "title", url: str = "url") -> list[dict[str, object]]:
    return [{"id": 7_000 + n, title: each, url: f"/2026/{n}", "date": f"2026-05-{n + 1:02}"}
            for n, each in enumerate(titles)]  # fmt: skip


APIS = [
    Site("an array", {"/api": api(records(ENGLISH))}, "/api", ENGLISH[:3]),
    Site("an array in an object", {"/api": api({"page": 1, "data": {"items": records(ENGLISH, "headline", "link")}})},
         "/api", ENGLISH[:3]),
    Site("members of attributes", {"/api": api({"data": [{"type": "a", "attributes": each, "links": {"self": "/x"}}
                                                         for each in records(POLISH, "name", "permalink")]})},
         "/api", POLISH[:3]),
    Site("JSON as plain text", {"/api": api({"results": records(CHINESE)}, "text/plain")}, "/api", CHINESE[:3]),
]  # fmt: skip

# --- to be crawled, and what cannot be followed -----------------------------------------------------------------------
SECTIONS = "".join(f'<p><a href="/section/{name.lower()}/">{name}</a></p>' for name in NAVIGATION[1:8])
OTHERS = [
    Site("sections whose pages have the articles", {
        "/": page("<h1>The Daily</h1>" + SECTIONS),
        **{f"/section/{name.lower()}/": page(listed(ENGLISH, "<li>{link}</li>")) for name in NAVIGATION[1:8]}},
        articles=("/section/news/",)),
    Site("a portal of sites", {"/": page("<h1>Region</h1>" + SECTIONS + "<p>Welcome.</p>")},
         articles=("/section/news/",)),
    Site("a page that only scripts fill", {"/": page('<div id="root"></div><script src="/app.js"></script>')},
         reason="without scripts"),
    Site("a form to sign in", {"/": page('<form method="post"><input name="u"><input name="p"></form>')},
         reason="no list of articles"),
    Site("an API without addresses", {"/api": api({"values": [1, 2, 3]})}, "/api", reason="no list of articles"),
    Site("an API with nothing but numbers", {"/api": api([{"id": n, "count": n * n} for n in range(9)])}, "/api",
         reason="no list of articles"),
]  # fmt: skip

SITES = [*FEEDS, *LISTS, *APIS, *OTHERS]
