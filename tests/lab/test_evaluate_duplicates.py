"""The evaluation of duplicates and boilerplate, on a small made-up collection."""

import csv
import json
import random

import pytest
from django.core.management import CommandError, call_command

from lab.evaluations.stories import stream

PLACES = ("Lisbon", "Oslo", "Kyoto", "Quito", "Accra", "Perth")
WORDS = [f"{first}{second}" for first in ("storm", "mayor", "river", "budget", "train") for second in "abcdefgh"]
KINDS = ("parameters", "amp", "mirror", "agency", "same_story", "same_source", "template", "copies", "different")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "EVERGREENS_A_DAY", 5)
    chance = random.Random(1)
    stories = [
        {
            "articles": [
                {
                    "title": f"{place} and {chance.choice(WORDS)} {turn}",
                    "text": ". ".join(" ".join(chance.choices(WORDS, k=12)).capitalize() for _ in range(12)),
                    "ext_url": f"https://paper{turn}.example/",
                }
                for turn in range(4)
            ]
        }
        for place in PLACES
    ]
    (tmp_path / "whole_big.json").write_text(json.dumps(stories))
    with (tmp_path / "headlines.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["TITLE", "PUBLISHER", "CATEGORY", "STORY"])
        rows.writerows(
            [[f"Flood reaches {place}", f"Publisher {turn}", "b", place] for place in PLACES for turn in "ab"]
        )
    return tmp_path


def test_copies_are_folded_and_different_articles_are_not(folder, tmp_path, capsys):
    texts = folder / "zh-10.jsonl"
    texts.write_text("\n".join(json.dumps({"headline": name, "text": f"{name} 报道。" * 40}) for name in "一二三"))
    call_command("evaluate_duplicates", stories=folder, texts=[texts], json=tmp_path / "out")
    figures = json.loads((tmp_path / "out").read_text())
    compared = ("ours", "no_boilerplate", "link", "link_or_title", "simhash")
    assert {f"whole.{method}.{kind}" for method in compared for kind in KINDS} <= set(figures)
    assert figures["whole.ours.copies"] > 0.95
    assert figures["whole.ours.different"] == 0
    assert figures["whole.link_or_title.agency"] == 0
    assert figures["whole.boilerplate.precision"] > 0.99
    assert {"headlines.ours.different", "zh.ours.copies"} <= set(figures)
    assert "Pairs folded" in capsys.readouterr().out


def test_other_files_are_refused(tmp_path, folder):
    with pytest.raises(CommandError, match="neither"):
        call_command("evaluate_duplicates", stories=tmp_path / "none")
    (tmp_path / "bad.jsonl").write_text("[]")
    with pytest.raises(CommandError, match=r"bad\.jsonl"):
        call_command("evaluate_duplicates", stories=folder, texts=[tmp_path / "bad.jsonl"])
