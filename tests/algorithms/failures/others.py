"""Pages with overlays, several stories, publishers as authors, live reports, and pages that are no articles."""

from tests.algorithms.failures.making import (
    HEADLINES,
    OTHERS,
    SITE,
    Case,
    document,
    joined,
    lines,
    linked_data,
    links,
    stories,
    story,
    wrapped,
)

HIGH, LOW = (0.8, 1.0), (0.0, 0.6)  # confidence


# --- overlays ---------------------------------------------------------------------------------------------------------
def consent_in_a_dialog() -> Case:
    """More text than the article has, in an element whose names say nothing; its role does."""
    text = story("de", 41, 3)
    html = f"""<main><article><h1>{HEADLINES["de"]}</h1><div class="txt">{wrapped(text)}</div></article></main>
        <div class="tp-x1" role="dialog" aria-modal="true"><div class="tp-x2"><h2>Ihre Daten, Ihre Wahl</h2>
        {wrapped(lines("consent_de"))}</div></div>"""
    return Case(document("de", html), joined(text), absent=("842 Partner", "3,99 Euro"))


def consent_over_the_page() -> Case:
    """Fixed over the page by its style, before everything else."""
    text = story("it", 42, 3)
    html = f"""<div id="l7" style="position: fixed; inset: 0; z-index: 99999; background: #fff">
        {wrapped(lines("consent_it"))}<p>Accetta tutto</p></div>
        <div class="w"><h1>{HEADLINES["it"]}</h1>{wrapped(text)}</div>"""
    return Case(document("it", html), joined(text), absent=("Utilizziamo cookie", "611 fornitori"))


def archive_note() -> Case:
    """The note of a newspaper about its archive stands between headline and text."""
    text = story("en", 43, 4)
    html = f"""<main><article id="story"><h1>{HEADLINES["en"]}</h1>
        <div class="notice-archive"><p>{lines("archive")[0]}</p></div>
        <section class="body">{wrapped(text)}</section></article></main>"""
    return Case(document("en", html), joined(text), absent=("About the archive", "errors of transcription"))


def web_archive() -> Case:
    """The banner that the Wayback Machine adds to a page."""
    text = story("pl", 44, 3)
    html = f"""<div id="wm-ipp-base" lang="en"><div id="wm-ipp"><p>12 captures, 4 Mar 2006 - 9 Nov 2011</p>
        <div id="wm-expand">{wrapped(lines("wayback"))}</div></div></div>
        <table><tr><td><h1>{HEADLINES["pl"]}</h1>{wrapped(text)}</td></tr></table>"""
    return Case(document("pl", html), joined(text), absent=("Alexa Crawls", "digital library"))


def adblock_message() -> Case:
    text = story("fr", 45, 3)
    html = f"""<div class="article"><h1>{HEADLINES["fr"]}</h1>{wrapped(text)}</div>
        <div id="ab-popin" class="popin overlay" aria-hidden="true"><section class="contenu">{wrapped(lines("adblock"))}
        </section></div>"""
    return Case(document("fr", html), joined(text), absent=("bloqueur de publicité", "un euro par semaine"))


def offer_over_the_text() -> Case:
    """An offer in a <dialog>-like element inside of the article, after a short first part of it."""
    text = story("en", 46, 4)
    offer = f'<div class="js-modal" role="alertdialog"><h2>Read on for a pound</h2>{wrapped(lines("offer"))}</div>'
    html = f"""<article><h1>{HEADLINES["en"]}</h1>{wrapped(text[:1])}{offer}{wrapped(text[1:])}</article>"""
    return Case(document("en", html), joined(text), absent=("cup of coffee", "over your shoulder"))


# --- confidence -------------------------------------------------------------------------------------------------------
def _many_links(language: str, count: int) -> str:
    items = "".join(links(language) for _ in range(count // len(OTHERS[language])))
    return f'<nav class="menu"><ul class="links">{items}</ul></nav>'


def half_of_the_text_looks_like_a_box() -> Case:
    """The article goes on below a long list of links, in a box like those of recommendations."""
    text = story("en", 51, 6)
    html = f"""<article><h1>{HEADLINES["en"]}</h1><div class="article-body">{wrapped(text[:3])}</div></article>
        {_many_links("en", 120)}<aside class="sidebar related">{wrapped(text[3:], "li", 'class="teaser"')}</aside>"""
    return Case(document("en", html), absent=(OTHERS["en"][0],), confidence=LOW)


def three_stories_far_apart() -> Case:
    """A page of several texts of the same length, of which one at most can be the article."""
    parts = zip(OTHERS["de"][:3], stories("de", 52, 3, 3, 3), strict=True)
    html = _many_links("de", 140).join(f"<div class='t'><h2>{line}</h2>{wrapped(text)}</div>" for line, text in parts)
    return Case(document("de", html), absent=(OTHERS["de"][3],), confidence=LOW)


def two_texts_around_the_menu() -> Case:
    """The headline stands above the one, the other is longer and stands in the footer."""
    text, other = stories("ru", 53, 3, 4)
    html = f"""<main><article><h1>{HEADLINES["ru"]}</h1><div class="post-content">{wrapped(text)}</div></article></main>
        {_many_links("ru", 100)}<footer class="footer"><div class="about">{wrapped(other)}</div></footer>"""
    return Case(document("ru", html), absent=(OTHERS["ru"][0],), confidence=LOW)


def article_with_discussion() -> Case:
    """What readers say below an article is nothing that is missing from it."""
    text, talk = stories("es", 54, 4, 4)
    comments = "".join(f'<li class="comment"><b>lector{place}</b><p>{each}</p></li>' for place, each in enumerate(talk))
    html = f"""<article><h1>{HEADLINES["es"]}</h1><div class="cuerpo">{wrapped(text)}</div></article>
        <section id="comments" class="comments"><h2>4 comentarios</h2><ol>{comments}</ol></section>"""
    return Case(document("es", html), joined(text), absent=(talk[0], talk[3]), confidence=HIGH)


# --- authors ----------------------------------------------------------------------------------------------------------
PUBLISHER = {"@type": "NewsMediaOrganization", "name": SITE}


def _signed(language: str, seed: int, byline: str, *, head: str) -> tuple[str, str]:
    text = story(language, seed, 4)
    html = f"<article><h1>{HEADLINES[language]}</h1>{byline}<div class='text'>{wrapped(text)}</div></article>"
    return document(language, html, head=head), joined(text)


def publisher_as_author_beside_a_byline() -> Case:
    head = linked_data(headline=HEADLINES["en"], author=PUBLISHER, publisher=PUBLISHER)
    byline = '<p class="byline">By <a rel="author" href="/people/ruth-calder">Ruth Calder</a>, harbour reporter</p>'
    html, text = _signed("en", 61, byline, head=head)
    return Case(html, text, authors=("Ruth Calder",))


def person_and_organization() -> Case:
    people = [{"@type": "Person", "name": "Gerda Wolff"}, {"@type": "Organization", "name": "dpa"}]
    head = linked_data(headline=HEADLINES["de"], author=people, publisher=PUBLISHER)
    html, text = _signed("de", 62, "", head=head)
    return Case(html, text, authors=("Gerda Wolff",))


def name_of_the_site_in_meta() -> Case:
    head = f'<meta name="author" content="{SITE}"><meta property="article:author" content="Odile Ferrand">'
    html, text = _signed("fr", 63, '<div class="signature">Par Odile Ferrand</div>', head=head)
    return Case(html, text, authors=("Odile Ferrand",))


def publisher_declared_as_a_person() -> Case:
    """No person signed: what is called a person has the publisher's name."""
    author = [{"@type": "Person", "name": SITE}, {"@type": "Person", "name": "easthaven paper"}]
    head = linked_data(headline=HEADLINES["it"], author=author, publisher=PUBLISHER)
    html, text = _signed("it", 64, "", head=head)
    return Case(html, text, authors=())


def byline_only() -> Case:
    """Meta and JSON-LD name the house; the person stands in an element that a class calls byline."""
    head = f'<meta name="author" content="{SITE} - redakcja">' + linked_data(author=SITE, publisher=PUBLISHER)
    byline = '<div class="article__byline"><span class="article__author-name">Halina Sroka</span> 4 marca 2026</div>'
    html, text = _signed("pl", 65, byline, head=head)
    return Case(html, text, authors=("Halina Sroka",))


# --- live pages -------------------------------------------------------------------------------------------------------
def _updates(language: str, seed: int, count: int) -> list[tuple[str, str, list[str]]]:
    """Entries of a live report, the oldest first: when, a headline, the text."""
    texts = stories(language, seed, *[2] * count)
    lines = (*OTHERS[language], HEADLINES[language])
    return [(f"2026-03-04T{8 + place:02}:15:00+01:00", lines[place], text) for place, text in enumerate(texts)]


def live_report_newest_first() -> Case:
    updates = _updates("en", 71, 4)[::-1]
    head = linked_data(
        kind="LiveBlogPosting",
        headline="Live: storm over Easthaven",
        liveBlogUpdate=[
            {"@type": "BlogPosting", "headline": line, "datePublished": when, "articleBody": " ".join(text)}
            for when, line, text in updates
        ],
    )
    entries = "".join(
        f"<article class='update'><time datetime='{when}'>{when[11:16]}</time><h2>{line}</h2>{wrapped(text)}</article>"
        for when, line, text in updates
    )
    html = f"<main><h1>Live: storm over Easthaven</h1><div class='updates'>{entries}</div></main>"
    newest = [updates[0][1], *updates[0][2]]
    absent = (updates[1][2][0], updates[3][2][1], updates[1][1])
    return Case(document("en", html, head=head, title="Live: storm over Easthaven"), joined(newest), absent=absent)


def live_report_oldest_first() -> Case:
    updates = _updates("de", 72, 5)
    entries = "".join(
        f"<div class='liveticker-entry' id='e{place}'><p><time datetime='{when}'>{when[11:16]} Uhr</time></p>"
        f"<h3>{line}</h3>{wrapped(text)}</div>"
        for place, (when, line, text) in enumerate(updates)
    )
    html = f"<h1>Liveticker: Sturm über Altenfurt</h1><section class='liveticker'>{entries}</section>"
    absent = (updates[0][2][0], updates[3][2][1])
    page = document("de", html, title="Liveticker: Sturm über Altenfurt")
    return Case(page, joined([updates[4][1], *updates[4][2]]), absent=absent)


def live_report_in_a_list() -> Case:
    updates = _updates("fr", 73, 4)[::-1]
    entries = "".join(
        f"<li class='live__post'><span class='h'><time datetime='{when}'>{when[11:13]} h {when[14:16]}</time></span>"
        f"<div>{wrapped(text)}</div></li>"
        for when, _, text in updates
    )
    html = f"<main><h1>En direct : tempête sur Valbrune</h1><ol class='live-blog posts'>{entries}</ol></main>"
    page = document("fr", html, title="En direct : tempête sur Valbrune")
    return Case(page, joined(updates[0][2]), absent=(updates[1][2][0], updates[2][2][0], updates[3][2][1]))


def live_report_with_summary() -> Case:
    """A pinned summary stands before the entries; the newest of them is neither the first nor the last."""
    summary, *texts = stories("es", 74, 2, 2, 2, 2)
    times = ("2026-03-04T12:00:00Z", "2026-03-04T18:30:00Z", "2026-03-04T15:00:00Z")
    head = linked_data(kind="LiveBlogPosting", headline="Última hora del temporal")
    entries = "".join(
        f"<article class='entrada' itemprop='liveBlogUpdate' itemscope><time itemprop='datePublished' "
        f"datetime='{when}'>{when[11:16]}</time><div itemprop='articleBody'>{wrapped(text)}</div></article>"
        for when, text in zip(times, texts, strict=True)
    )
    html = f"<main><h1>Última hora del temporal</h1><div class='claves'>{wrapped(summary)}</div>{entries}</main>"
    page = document("es", html, head=head, title="Última hora del temporal")
    return Case(page, joined(texts[1]), absent=(texts[0][0], texts[2][1]))


# --- pages that are no articles ---------------------------------------------------------------------------------------
def podcast_episode() -> Case:
    """Long notes about an episode, a player and where to hear more."""
    text = story("en", 81, 5)
    head = '<meta property="og:type" content="article">' + linked_data(
        kind="PodcastEpisode", name="The walking wall", datePublished="2026-03-04", duration="PT38M"
    )
    html = f"""<main><h1>The walking wall</h1><audio controls src="/e/214.mp3"></audio><p>Episode 214, 38 minutes</p>
        <div class="notes">{wrapped(text)}</div><p>Listen on <a href="https://p.example/1">Pocket Player</a>,
        <a href="https://q.example/2">Quaver</a> or with the <a href="/feed.xml">RSS feed</a>.</p></main>"""
    page = document("en", html, head=head, title="The walking wall")
    return Case(page, is_article=False, url="https://paper.example/2026/03/04/the-walking-wall-of-easthaven-48213")


def programme_of_the_day() -> Case:
    """A schedule: a table of times and programmes, each with a few sentences."""
    texts = [text[0] for text in stories("de", 82, *[1] * 10)]
    rows = "".join(
        f"<tr><td class='time'>{8 + place:02}:{15 * (place % 4):02}</td><td><h3>{OTHERS['de'][place % 4]}</h3>"
        f"<p>{each}</p></td></tr>"
        for place, each in enumerate(texts)
    )
    html = f"<main><h1>Das Programm am Mittwoch</h1><table class='plan'>{rows}</table></main>"
    page = document("de", html, title="Das Programm am Mittwoch, 4. März 2026")
    return Case(page, is_article=False, url="https://paper.example/fernsehen/heute-im-ersten-und-im-zweiten-20260304")


def slideshow() -> Case:
    """A page of pictures: each has a number and a caption of a sentence or two."""
    texts = [text[0] for text in stories("en", 83, *[1] * 9)]
    slides = "".join(
        f"<figure class='s'><img src='/p/{place}.jpg' width='1200' height='800'><figcaption><b>{place}/9</b> {each}"
        f"</figcaption></figure>"
        for place, each in enumerate(texts, 1)
    )
    head = '<meta property="og:type" content="article">' + linked_data(kind="ImageGallery", name="The mole in pictures")
    html = f"<main><h1>The mole in nine pictures</h1><p>By our reporters</p><div class='deck'>{slides}</div></main>"
    page = document("en", html, head=head, title="The mole in nine pictures")
    return Case(page, is_article=False, url="https://paper.example/news/the-northern-mole-in-nine-views-48213")


def slideshow_without_names() -> Case:
    """No type says what it is: pictures with lines of text beside each, and a count."""
    texts = [text[0] for text in stories("it", 84, *[1] * 12, each=1)]
    slides = "".join(
        f"<li><img src='/foto/{place}.jpg' width='1000' height='700'><p><em>{place} di 12</em> {each}</p></li>"
        for place, each in enumerate(texts, 1)
    )
    html = f"<main><h1>Il teatro in dodici scatti</h1><ul class='x4'>{slides}</ul></main>"
    page = document("it", html, title="Il teatro in dodici scatti")
    return Case(page, is_article=False, url="https://paper.example/2026/03/04/il-teatro-in-dodici-scatti-48213")


def article_with_a_player_and_pictures() -> Case:
    """An article stays one when it can be heard and has a few pictures."""
    text = story("en", 85, 10)
    pictures = [
        f"<figure><img src='/p/{place}.jpg' width='900' height='600'><figcaption>Picture {place}, by Lena Ort"
        "</figcaption></figure>"
        for place in range(3)
    ]
    parts = [f"<p>{each}</p>" for each in text]
    for place, picture in zip((2, 5, 8), pictures, strict=True):
        parts.insert(place, picture)
    head = '<meta property="og:type" content="article">' + linked_data(headline=HEADLINES["en"], articleSection="Town")
    html = f"""<main><article><h1>{HEADLINES["en"]}</h1><audio controls src="/read/48213.mp3"></audio>
        <div class="story-text">{"".join(parts)}</div></article><aside><ul>{links("en")}</ul></aside></main>"""
    return Case(document("en", html, head=head), joined(text), absent=("by Lena Ort",), is_article=True)


PAGES = (
    consent_in_a_dialog, consent_over_the_page, archive_note, web_archive, adblock_message, offer_over_the_text,
    half_of_the_text_looks_like_a_box, three_stories_far_apart, two_texts_around_the_menu, article_with_discussion,
    publisher_as_author_beside_a_byline, person_and_organization, name_of_the_site_in_meta,
    publisher_declared_as_a_person, byline_only, live_report_newest_first, live_report_oldest_first,
    live_report_in_a_list, live_report_with_summary, podcast_episode, programme_of_the_day, slideshow,
    slideshow_without_names, article_with_a_player_and_pictures,
)  # fmt: skip
