"""Highlighted passages: made, found again after edits, listed, exported, and limited."""

import pytest
from django.urls import reverse

from apps.following import actions
from apps.following.actions import highlights
from apps.following.actions.errors import NotPossible
from apps.following.actions.restoring import move_own
from apps.following.algorithms.passages import Passage
from apps.following.models import Highlight
from apps.postings.models import Posting
from apps.reading.pages.highlights import lost_among
from tests.builders import NOON, a_follow, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db
HTML = "<p>The <b>old</b> bridge &amp; the tower. The old bridge fell.</p>"


@pytest.fixture
def posting():
    return a_posting(html=HTML, title="Bridge [1]")


def make(user, posting, quote, prefix="", suffix="", note=""):
    return actions.highlights.highlight(user, posting, Passage(quote, prefix, suffix), note=note, now=NOON)


def test_a_passage_is_stored_with_its_surroundings_once(posting):
    user = a_user()
    made = make(user, posting, "oldbridge", "tower. The", "fell")
    assert (made.quote, made.suffix) == ("old bridge", " fell.")
    assert made.prefix.endswith("tower. The")
    assert make(user, posting, "old bridge", "tower. The", note="Why?").pk == made.pk
    assert Highlight.objects.get().note == "Why?"


def test_a_passage_that_is_not_in_the_article_is_refused(posting):
    for quote in ("new bridge", " ", "<b>old</b>"):
        with pytest.raises(NotPossible, match="not in the article"):
            make(a_user(), posting, quote)


def test_highlights_are_limited(posting, monkeypatch):
    user = a_user()
    monkeypatch.setattr(highlights, "MAX_OF_POSTING", 1)
    make(user, posting, "tower")
    with pytest.raises(NotPossible, match="1 passages"):
        make(user, posting, "bridge")
    with pytest.raises(NotPossible, match="10,001"):
        make(user, posting, "tower", note="x" * 10_001)


def test_highlights_of_merged_postings_are_kept(posting):
    made = make(a_user(), posting, "tower")
    kept = a_posting()
    move_own([(posting.pk, kept.pk)])
    assert Highlight.objects.get(pk=made.pk).posting == kept


def test_a_passage_that_an_edit_removed_is_lost_and_another_one_is_not(posting):
    user = a_user()
    tower, bridge = make(user, posting, "tower"), make(user, posting, "old bridge")
    Posting.objects.filter(pk=posting.pk).update(html="<p>News: the old bridge fell.</p>")
    assert lost_among(user, [tower, bridge]) == {tower.pk}


# --- pages ------------------------------------------------------------------------------------------------------------
@pytest.fixture
def reader(client):
    user = a_user()
    client.force_login(user)
    return client, user


def test_a_pasted_passage_is_marked_in_the_article_noted_and_removed(reader, posting):
    client, _ = reader
    pasted = {"quote": "bridge & the", "note": "Which one?"}
    shown = client.post(reverse("highlight", args=[posting.pk]), pasted, follow=True).text
    [made] = Highlight.objects.all()
    mark = f'<mark class="highlight" data-highlight="{made.pk}">'
    assert f"{mark}bridge &amp; the</mark> tower" in shown
    assert "Which one?" in shown
    client.post(reverse("change_highlight", args=[made.pk]), {"note": "That one <b>"})
    assert "That one &lt;b&gt;" in client.get(reverse("highlights")).text
    client.post(reverse("change_highlight", args=[made.pk]), {"do": "delete"})
    assert 'highlight" data-' not in client.get(reverse("posting", args=[posting.pk])).text
    assert not Highlight.objects.exists()


def test_what_was_typed_is_shown_once_more_when_the_passage_is_not_found(reader, posting):
    client, _ = reader
    typed = {"quote": "new bridge", "note": "Why <b>?" + "x" * 20_000}
    shown_at = client.post(reverse("highlight", args=[posting.pk]), typed).url
    for without_form in (
        {"query_params": {"mode": "reading"}},
        {"headers": {"HX-Request": "true", "HX-Target": "menu-1"}},
    ):
        assert "new bridge" not in client.get(reverse("posting", args=[posting.pk]), **without_form).text
    shown = client.get(shown_at).text
    assert ">new bridge</textarea>" in shown
    assert f">Why &lt;b&gt;?{'x' * 9_992}</textarea>" in shown
    assert "new bridge" not in client.get(reverse("posting", args=[posting.pk])).text
    client.post(reverse("highlight", args=[posting.pk]), {"quote": "tower", "note": "High"})
    assert ">tower</textarea>" not in client.get(reverse("posting", args=[posting.pk])).text


def test_the_page_filters_by_words_and_says_what_is_no_longer_in_the_text(reader, posting):
    client, user = reader
    make(user, posting, "tower", note="tall")
    make(user, posting, "fell")
    make(a_user(), posting, "bridge")
    Posting.objects.filter(pk=posting.pk).update(html="<p>The tower.</p>")
    page = client.get(reverse("highlights")).text
    assert page.count("no longer in the text") == 1
    assert ">fell</mark>" in page
    assert ">bridge</mark>" not in page
    assert ">fell</mark>" not in client.get(reverse("highlights"), {"q": "tall tower"}).text


def test_highlights_are_exported_as_markdown_and_json(reader, posting):
    client, user = reader
    make(user, posting, "tower", note="Tall\nand old")
    make(user, posting, "old bridge")
    answer = client.get(reverse("export_markdown"))
    assert answer["Content-Disposition"] == 'attachment; filename="highlights.md"'
    text = answer.text
    assert text.startswith(f"## [Bridge \\[1\\]](<{posting.url}>)\n")
    assert "> tower\n\nTall\nand old\n\n> old bridge\n" in text
    [article] = client.get(reverse("export_json")).json()["articles"]
    assert [each["quote"] for each in article["highlights"]] == ["tower", "old bridge"]
    assert article["highlights"][0]["note"] == "Tall\nand old"


def test_highlights_of_others_cannot_be_changed_and_unreadable_articles_not_highlighted(reader, posting):
    client, _ = reader
    made = make(a_user(), posting, "tower")
    assert client.post(reverse("change_highlight", args=[made.pk]), {"note": "x"}).status_code == 404
    client.post(reverse("change_highlight", args=[made.pk]), {"do": "delete"})
    assert Highlight.objects.get().note == ""
    private = a_posting(a_follow(a_user(), a_source(listed=False)).source, html=HTML)
    assert client.post(reverse("highlight", args=[private.pk]), {"quote": "tower"}).status_code == 404


def test_a_page_of_highlights_takes_the_same_number_of_queries(reader, posting, django_assert_max_num_queries):
    client, user = reader
    for quote in ("tower", "bridge", "old", "fell", "The"):
        make(user, posting, quote)
        make(user, a_posting(html=HTML), quote)
    client.get(reverse("highlights"))
    with django_assert_max_num_queries(9):
        client.get(reverse("highlights"))
