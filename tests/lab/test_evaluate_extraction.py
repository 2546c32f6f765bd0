"""The comparison of extractors, on a folder of three small pages."""

import gzip
import json

import pytest
from django.core.management import CommandError, call_command

from apps.postings.algorithms.extraction import keen
from apps.postings.algorithms.extraction.documents import read_page

PROSE = "The council voted on Tuesday to keep the old bridge open to walkers, and to repair it by spring. "


def a_page(number):
    story = "".join(f"<p>{number}.{part}: {PROSE * 3}</p>" for part in range(5))
    menu = "".join(f"<li><a href='/{name}'>{name}</a></li>" for name in ("World", "Sport", "Culture"))
    return f"<html><body><ul>{menu}</ul><article><h1>Bridge {number}</h1>{story}</article><footer>© Daily</footer>"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "html").mkdir()
    truth = {}
    for number in range(3):
        name = f"page{number}"
        (tmp_path / "html" / f"{name}.html.gz").write_bytes(gzip.compress(a_page(number).encode()))
        text = "\n".join(f"{number}.{part}: {PROSE * 3}" for part in range(5))
        truth[name] = {"url": f"https://daily.example/{number}", "articleBody": text}
    (tmp_path / "ground-truth.json").write_text(json.dumps(truth))
    return tmp_path


@pytest.mark.filterwarnings("ignore")  # of other people's code
def test_all_extractors_are_measured_and_ours_finds_simple_articles_whole(folder, tmp_path):
    call_command("evaluate_extraction", pages=folder, json=tmp_path / "numbers.json")
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    assert numbers["ours.f1"] > 0.99
    assert numbers["plain.f1"] < numbers["ours.f1"]
    assert {f"{name}.f1" for name in ("keen_tags", "site_keen_tags", "trafilatura", "justext")} <= numbers.keys()
    assert all(f"{name.removesuffix('.f1')}.pages_per_s" in numbers for name in numbers if name.endswith(".f1"))


def test_a_folder_without_truth_is_an_error(tmp_path):
    with pytest.raises(CommandError, match=r"ground-truth\.json"):
        call_command("evaluate_extraction", pages=tmp_path)


def test_a_missing_page_is_named(folder):
    (folder / "html" / "page1.html.gz").unlink()
    with pytest.raises(CommandError, match=r"page1\.html\.gz"):
        call_command("evaluate_extraction", pages=folder)


# --- what the weights are learnt from ---------------------------------------------------------------------------------
def test_weights_are_learnt_from_pages_and_read_where_they_were_written(folder, tmp_path):
    weights = tmp_path / "weights.json"
    call_command("train_extraction", pages=folder, out=weights)
    model = keen.read_model(weights.read_text())
    assert (model.version, set(model.domains)) == ("weights", {"daily.example"})
    text = keen.extract(read_page(a_page(9).encode()).root, model=model).text
    assert PROSE.strip() in text
    assert "Culture" not in text


def test_domains_that_are_measured_are_not_learnt_from(folder, tmp_path):
    with pytest.raises(CommandError, match="no page to learn from"):
        call_command("train_extraction", pages=folder, without=folder, out=tmp_path / "weights.json")
