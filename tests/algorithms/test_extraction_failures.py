"""Forty pages, one for each way in which extraction failed with confidence; they were made before it was mended."""

import pytest

from apps.postings.algorithms.extraction.articles import extract_article
from apps.retrieval.algorithms.reading import read_site_page
from lab.evaluations.extraction.measures import agreement, scores
from tests.algorithms.failures import others, texts
from tests.algorithms.failures.making import Case

PAGES = (*texts.PAGES, *others.PAGES)
MIN_F1 = 0.95  # of four-word shingles


def failures_of(case: Case) -> list[str]:
    """What is read wrongly of a page."""
    body = case.html.encode()
    article = extract_article(body, content_type="text/html; charset=utf-8", url=case.url)
    found = [f"has {phrase!r}" for phrase in case.absent if phrase in article.text]
    if case.text is not None and (f1 := scores([agreement(case.text, article.text)]).f1) < MIN_F1:
        found.append(f"F1 {f1:.3f}")
    if case.authors is not None and article.authors != case.authors:
        found.append(f"authors {article.authors}")
    low, high = case.confidence
    if not low <= article.confidence <= high:
        found.append(f"confidence {article.confidence:.2f}")
    if case.is_article is not None:
        reading = read_site_page(body, content_type="text/html", url=case.url)
        if (reading.kind == "news") != case.is_article:
            found.append(f"{reading.kind} {reading.probability:.2f}: {', '.join(reading.reasons)}")
    return found


def test_there_is_a_page_for_each_of_forty_failures():
    assert len({build.__name__ for build in PAGES}) == 40
    assert len({build().html for build in PAGES}) == 40


@pytest.mark.parametrize("build", PAGES, ids=lambda build: build.__name__)
def test_nothing_of_the_page_is_read_wrongly(build):
    assert failures_of(build()) == []
