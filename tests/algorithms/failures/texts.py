"""Pages whose article is stated for machines, stands in scripts only, or is followed by another one."""

from html import escape

from tests.algorithms.failures.making import (
    HEADLINES,
    OTHERS,
    Case,
    document,
    joined,
    linked_data,
    links,
    script,
    stories,
    story,
    wrapped,
)


# --- articleBody ------------------------------------------------------------------------------------------------------
def body_in_microdata() -> Case:
    """The element that holds the article, and the ones around it, have the class names of what is none."""
    text, notes = stories("en", 11, 6, 4)
    html = f"""<div class="comment-list sidebar related-widget" itemscope itemtype="http://schema.org/NewsArticle">
        <h1 itemprop="headline">{HEADLINES["en"]}</h1>
        <div class="promo aside comment-text" itemprop="articleBody">{wrapped(text, "div", 'class="comment teaser"')}
        </div></div><div class="article-body main-content story">{wrapped(notes)}</div>"""
    return Case(document("en", html), joined(text), absent=(notes[1],))


def body_in_microdata_with_teasers() -> Case:
    """Between the paragraphs of the named element stand teasers, a form and a figure."""
    text = story("pl", 12, 7)
    parts = [f"<p>{each}</p>" for each in text]
    parts.insert(5, f'<aside class="czytaj"><h3>Czytaj także</h3><ul>{links("pl")}</ul></aside>')
    parts.insert(3, '<form class="newsletter"><p>Zapisz się na nasz poranny list.</p><input name="mail"></form>')
    parts.insert(1, '<figure><img src="/1.jpg" width="800"><figcaption>Fot. Jan Zych / archiwum</figcaption></figure>')
    html = f"""<div class="related list" itemscope itemtype="https://schema.org/Article"><h1>{HEADLINES["pl"]}</h1>
        <section class="widget" itemprop="articleBody">{"".join(parts)}</section></div>"""
    return Case(document("pl", html), joined(text), absent=(*OTHERS["pl"], "poranny list", "Jan Zych"))


def body_in_linked_data() -> Case:
    """The list of the page reads less like an article than the long discussion below it."""
    text, talk = stories("de", 13, 5, 5)
    items = wrapped(text, "li", 'class="meta caption"')
    comments = "".join(f'<div class="box"><b>Leser {place}</b><p>{each}</p></div>' for place, each in enumerate(talk))
    head = linked_data(headline=HEADLINES["de"], articleBody=" ".join(text))
    html = f"<h1>{HEADLINES['de']}</h1><ul class='nav related'>{items}</ul><div class='main'>{comments}</div>"
    return Case(document("de", html, head=head), joined(text), absent=(talk[0], talk[3]))


def body_in_linked_data_goes_on() -> Case:
    """The page shows the beginning, the rest loads on a click; JSON-LD has all of it."""
    text = story("fr", 14, 8)
    head = linked_data(kind="ReportageNewsArticle", headline=HEADLINES["fr"], articleBody="\n".join(text))
    html = f"""<main><article><h1>{HEADLINES["fr"]}</h1><div class="corps">{wrapped(text[:2])}</div>
        <button>Lire la suite</button></article><section class="aussi"><h2>À lire aussi</h2><ul>{links("fr")}</ul>
        </section></main>"""
    return Case(document("fr", html, head=head), joined(text), absent=(OTHERS["fr"][0], "Lire la suite"))


def body_in_linked_data_is_another_text() -> Case:
    """A template's mistake: what JSON-LD calls the body is not on the page."""
    text, other = stories("es", 15, 5, 3)
    head = linked_data(headline=HEADLINES["es"], articleBody=" ".join(other))
    html = f"<article class='nota'><h1>{HEADLINES['es']}</h1><div class='cuerpo'>{wrapped(text)}</div></article>"
    return Case(document("es", html, head=head), joined(text), absent=(other[0], other[2]))


def body_in_microdata_chinese() -> Case:
    text, notes = stories("zh", 16, 7, 5, each=1)
    html = f"""<div itemscope itemtype="http://schema.org/NewsArticle" class="ad-box sponsor"><h1>{HEADLINES["zh"]}</h1>
        <span itemprop="articleBody" class="photo-caption">{"<br><br>".join(text)}</span></div>
        <div class="content">{wrapped(notes)}</div>"""
    return Case(document("zh", html), joined(text), absent=(notes[0], notes[4]))


# --- scripts ----------------------------------------------------------------------------------------------------------
def _shell(language: str, data: str, *, body: str = '<div id="root"><p>Loading…</p></div>') -> str:
    return document(language, body + data, around=False)


def next_data_of_html() -> Case:
    text, other = stories("en", 21, 6, 2)
    markup = wrapped(text)
    data = {
        "props": {
            "pageProps": {
                "menu": [{"title": line, "href": f"/{place}"} for place, line in enumerate(OTHERS["en"])],
                "article": {"id": 48213, "headline": HEADLINES["en"], "body": markup, "tags": ["harbour", "council"]},
                "recommended": [{"headline": OTHERS["en"][3], "teaser": other[0]}, {"teaser": other[1]}],
            }
        },
        "page": "/news/[slug]",
        "buildId": "x8Yt3",
    }
    html = _shell("en", script(data, attributes='id="__NEXT_DATA__" type="application/json"'))
    return Case(html, joined(text), absent=(other[0], OTHERS["en"][0]))


def next_data_of_blocks() -> Case:
    """Each paragraph is an object of its own among pictures and embeds."""
    text = story("de", 22, 7)
    blocks: list[dict[str, object]] = [
        {"__typename": "ParagraphBlock", "type": "paragraph", "data": {"text": each}} for each in text
    ]
    blocks.insert(2, {"type": "image", "data": {"src": "/1.jpg", "caption": "Das Rad im Winter, Foto: Jan Ost"}})
    blocks.insert(5, {"type": "teaser", "data": {"headline": OTHERS["de"][3], "url": "/n/3"}})
    data = {"props": {"pageProps": {"content": {"headline": HEADLINES["de"], "blocks": blocks}}}}
    body = f'<div id="__next"><nav>{links("de", "span")}</nav><h1>{HEADLINES["de"]}</h1></div>'
    html = _shell("de", script(data, attributes='id="__NEXT_DATA__" type="application/json"'), body=body)
    return Case(html, joined(text), absent=(OTHERS["de"][0], "Jan Ost"))


def initial_state() -> Case:
    text, other = stories("es", 23, 5, 2)
    data = {
        "user": None,
        "router": {"path": "/2026/03/04/pleno"},
        "entities": {
            "articles": {
                "48213": {"titulo": HEADLINES["es"], "contenido": wrapped(text, "p", "class=x"), "autor": "Ana Ruiz"},
                "48100": {"titulo": OTHERS["es"][0], "resumen": other[0]},
            }
        },
    }
    code = script(data, before="window.__INITIAL_STATE__ = ", after=";(function(){window.start&&start()}());")
    return Case(_shell("es", code), joined(text), absent=(other[0], "Loading"))


def arc_publishing() -> Case:
    text = story("it", 24, 6)
    elements = [{"_id": f"E{place}", "type": "text", "content": each} for place, each in enumerate(text)]
    content = {
        "_id": "Q7",
        "type": "story",
        "headlines": {"basic": HEADLINES["it"]},
        "content_elements": elements,
        "related_content": {"basic": [{"headlines": {"basic": line}} for line in OTHERS["it"]]},
    }
    before = 'window.Fusion=window.Fusion||{};Fusion.arcSite="paper";Fusion.contextPath="/pf";Fusion.globalContent='
    after = ';Fusion.globalContentConfig={"source":"story-api","query":{"id":"Q7"}};'
    html = _shell("it", script(content, before=before, after=after, attributes='id="fusion-metadata"'))
    return Case(html, joined(text), absent=(OTHERS["it"][0],))


def apollo_state() -> Case:
    text = story("ja", 25, 6)
    state: dict[str, object] = {"ROOT_QUERY": {"article({'id':'9'})": {"__ref": "Article:9"}}}
    state["Article:9"] = {"__typename": "Article", "title": HEADLINES["ja"], "body": {"__ref": "Body:9"}}
    state["Body:9"] = {"__typename": "Body", "html": "".join(f"<p>{escape(each)}</p>" for each in text)}
    for place, line in enumerate(OTHERS["ja"]):
        state[f"Article:{place + 10}"] = {"__typename": "Article", "title": line}
    html = _shell("ja", script(state, before="window.__APOLLO_STATE__=", after=";"), body='<div id="app"></div>')
    return Case(html, joined(text), absent=OTHERS["ja"])


# --- a second headline ------------------------------------------------------------------------------------------------
def second_article_follows() -> Case:
    """Scrolling on has loaded the next article, in an element like that of the first."""
    text, other = stories("en", 31, 5, 6)
    one, two = HEADLINES["en"], OTHERS["en"][3]
    html = f"""<main>{_article(one, text)}{_article(two, other)}</main>"""
    return Case(document("en", html), joined(text), absent=(other[0], other[5], two))


def second_headline_in_the_same_element() -> Case:
    text, other = stories("fr", 32, 4, 4)
    html = f"""<div class="flux"><h1>{HEADLINES["fr"]}</h1>{wrapped(text)}
        <h1>{OTHERS["fr"][3]}</h1>{wrapped(other)}</div>"""
    return Case(document("fr", html), joined(text), absent=(other[0], other[3]))


def second_headline_is_a_link() -> Case:
    """The following article begins with a heading of the second order that leads to its own page."""
    text, other = stories("ru", 33, 3, 3)
    html = f"""<div class="page"><article class="story"><h1>{HEADLINES["ru"]}</h1>
        <div class="txt">{wrapped(text)}</div></article>
        <article class="story"><h2><a href="/2026/03/03/tunnel">{OTHERS["ru"][3]}</a></h2>
        <div class="txt">{wrapped(other)}</div></article></div>"""
    return Case(document("ru", html), joined(text), absent=(other[0], other[2]))


def second_headline_with_byline() -> Case:
    """The following article stands in the same kind of section, with a date and an author of its own."""
    text, other = stories("de", 34, 4, 5)
    html = f"""<main>{_section(HEADLINES["de"], "Lena Ort", "2026-03-04T18:00:00Z", text)}
        <p>Anzeige</p>{_section(OTHERS["de"][3], "Jan Ost", "2026-03-03T09:00:00Z", other)}</main>"""
    return Case(document("de", html), joined(text), absent=(other[0], other[4], OTHERS["de"][3]))


def headings_of_the_first_order_inside() -> Case:
    """Some editors write the headings within an article as h1: it goes on after them."""
    text = story("es", 35, 6)
    html = f"""<article><h1>{HEADLINES["es"]}</h1><div class="cuerpo">{wrapped(text[:2])}<h1>El dinero</h1>
        {wrapped(text[2:4])}<h1>El calendario</h1>{wrapped(text[4:])}</div></article>"""
    whole = [*text[:2], "El dinero", *text[2:4], "El calendario", *text[4:]]
    return Case(document("es", html), joined(whole))


def _article(headline: str, text: list[str]) -> str:
    return f'<article class="post"><h1>{headline}</h1><div class="post-content">{wrapped(text)}</div></article>'


def _section(headline: str, author: str, when: str, text: list[str]) -> str:
    day = f"{when[8:10]}.{when[5:7]}.2026"
    return f"""<section class="beitrag"><h2>{headline}</h2><p class="von">Von <span class="author">{author}</span>
        <time datetime="{when}">{day}</time></p><div class="text">{wrapped(text)}</div></section>"""


PAGES = (
    body_in_microdata, body_in_microdata_with_teasers, body_in_linked_data, body_in_linked_data_goes_on,
    body_in_linked_data_is_another_text, body_in_microdata_chinese, next_data_of_html, next_data_of_blocks,
    initial_state, arc_publishing, apollo_state, second_article_follows, second_headline_in_the_same_element,
    second_headline_is_a_link, second_headline_with_byline, headings_of_the_first_order_inside,
)  # fmt: skip
