"""One query by every search model, on the same articles."""

import pytest
from django.core.cache import cache
from django.urls import reverse

from apps.postings.models import Posting
from apps.search.actions.reindexing import consume
from apps.search.algorithms.language import parse
from apps.search.queries import comparison
from tests.apps.search.searching import published
from tests.builders import NOON, a_source, a_user

pytestmark = pytest.mark.django_db

MODELS = ["ours", "bm25", "rm3", "vsm", "vsm_qe", "vsm_qe_tr", "vsm_tr"]


def compare(text, user=None):
    return comparison.compare(user or a_user(), parse(text), now=NOON)


def some_articles():
    for days in range(1, 31):
        published(f"Rome day {days}", days=days, text="Nothing but the weather of the forum.")
    both = published("Summit in Paris", days=40, text="Leaders met at the summit in Paris and spoke of the climate.")
    published("Climate pact", days=41, text="The climate pact of the leaders was signed.")
    consume()
    return both


def test_every_model_answers_the_same_query():
    both = some_articles()
    compared = compare("paris summit")
    assert [answer.name for answer in compared.answers] == MODELS
    assert compared.documents == 32
    assert {answer.postings[0] for answer in compared.answers} == {both.pk}
    assert compared.answers[0].shared == len(compared.answers[0].postings)
    added = {answer.name: answer.added for answer in compared.answers}
    assert added["vsm"] == added["vsm_tr"] == added["bm25"] == ()
    assert "climat" in added["vsm_qe"]
    assert "climat" in added["rm3"]
    assert "pari" not in added["vsm_qe"] + added["rm3"]


def test_expansion_finds_what_the_words_alone_do_not():
    some_articles()
    pact = Posting.objects.get(title="Climate pact").pk
    answers = {answer.name: answer.postings for answer in compare("paris summit").answers}
    assert pact in answers["vsm_qe"]
    assert pact not in answers["vsm"]
    assert pact not in answers["bm25"]


def test_only_readable_articles_that_pass_the_filters_are_compared():
    hidden = published("Paris in private", a_source(listed=False))
    published("Paris in German", language="de")
    found = published("Paris in English")
    consume()
    compared = compare("paris lang:en")
    assert compared.documents == 1
    assert {id for answer in compared.answers for id in answer.postings} == {found.pk}
    assert hidden.pk not in compared.answers[0].postings


def test_the_newest_articles_are_compared(monkeypatch):
    monkeypatch.setattr(comparison, "MAX_DOCUMENTS", 3)
    published("Rome", days=1)  # for the thesis a word of all articles is worth nothing
    newest = [published(f"Paris {days}", days=days).pk for days in (2, 3, 4)][:2]
    consume()
    assert {frozenset(answer.postings) for answer in compare("paris").answers} == {frozenset(newest)}


def test_unknown_words_and_an_empty_index_have_no_answers():
    assert compare("paris") == comparison.Comparison(0, 0.0, ())
    published("Rome")
    consume()
    assert compare("paris").answers == ()


def test_the_page_names_models_added_terms_and_articles(client):
    both = some_articles()
    client.force_login(a_user())
    page = client.get(reverse("compare_models"), {"q": "paris summit"}).text
    assert page.count(f'href="{reverse("posting", args=[both.pk])}"') == len(MODELS)
    assert "Thesis: with reweighting" in page
    assert "climat" in page
    assert "Among the newest 32 articles" in page


def test_a_wrong_query_is_explained_on_the_page(client):
    client.force_login(a_user())
    assert "search-piece" in client.get(reverse("compare_models"), {"q": 'paris "'}).text
    assert client.get(reverse("compare_models"), {"q": "-paris"}).status_code == 200


def test_comparisons_are_limited_by_person(client):
    cache.clear()
    client.force_login(a_user())
    codes = [client.get(reverse("compare_models"), {"q": "paris"}).status_code for _ in range(31)]
    assert codes == [200] * 30 + [429]


def test_staff_find_it_beside_the_results(client):
    client.force_login(a_user(is_staff=True))
    assert reverse("compare_models") in client.get(reverse("search"), {"q": "paris"}).text
    client.force_login(a_user())
    assert reverse("compare_models") not in client.get(reverse("search"), {"q": "paris"}).text
