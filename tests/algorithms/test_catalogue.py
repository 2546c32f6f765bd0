from collections import Counter
from pathlib import Path

import pytest

import apps.sources
from apps.sources.algorithms.addresses import absolute, normalise, same_page_key
from apps.sources.formats.opml import OpmlDocument, read

STARTER_FOLDER = ("Starter edition",)


@pytest.fixture(scope="module")
def catalogue() -> OpmlDocument:
    return read((Path(apps.sources.__file__).parent / "catalogue.opml").read_bytes())


def test_the_catalogue_is_sound_and_of_a_handy_size(catalogue: OpmlDocument) -> None:
    assert (catalogue.problem, catalogue.skipped) == ("", ())
    assert 55 <= len(catalogue.subscriptions) <= 70


def test_catalogue_covers_many_languages_and_categories(catalogue: OpmlDocument) -> None:
    assert len({source.language.partition("-")[0] for source in catalogue.subscriptions}) >= 10
    assert len({path[0] for source in catalogue.subscriptions for path in source.folders}) >= 8


def test_every_source_is_described_and_in_one_category(catalogue: OpmlDocument) -> None:
    for source in catalogue.subscriptions:
        assert source.title
        assert source.description
        assert source.language
        categories = [path for path in source.folders if path != STARTER_FOLDER]
        assert source.folders[:1] == tuple(categories), source.title


def test_the_starter_edition_has_a_few_feeds_of_several_categories_in_each_language(catalogue: OpmlDocument) -> None:
    starters = [source for source in catalogue.subscriptions if STARTER_FOLDER in source.folders]
    assert Counter(source.language.partition("-")[0] for source in starters) == {"en": 8, "zh": 4}
    assert len({source.folders[0][0] for source in starters}) >= 6


def test_every_address_is_already_in_its_final_form(catalogue: OpmlDocument) -> None:
    content = (Path(apps.sources.__file__).parent / "catalogue.opml").read_text("utf-8")
    for source in catalogue.subscriptions:
        assert normalise(source.xml_url) == source.xml_url
        assert absolute(source.html_url) == source.html_url != ""
        # As written, not only as read.
        assert f'xmlUrl="{source.xml_url}"' in content
        assert f'htmlUrl="{source.html_url}"' in content


def test_no_source_is_listed_twice(catalogue: OpmlDocument) -> None:
    keys = Counter(same_page_key(source.xml_url) for source in catalogue.subscriptions)
    titles = Counter(source.title for source in catalogue.subscriptions)
    content = (Path(apps.sources.__file__).parent / "catalogue.opml").read_text("utf-8")
    assert max(keys.values()) == max(titles.values()) == 1
    assert content.count("xmlUrl=") == len(catalogue.subscriptions)
