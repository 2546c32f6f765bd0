"""Commands of the laboratory on stories: judges' lists, and the table of general news."""

import json
import lzma
from datetime import date

import numpy as np
from django.core.management import call_command

from lab.management.commands import make_news_counts

DAY = 1_697_000_000  # 2023-10-11


def test_stories_of_a_day_are_drawn_without_naming_a_method(tmp_path):
    (tmp_path / "sources.csv").write_text(
        "src,url,good\n1,https://a.example/,1\n2,https://b.example/,1\n3,https://c/,0\n"
    )
    titles = (
        "Storm floods streets of Lisbon",
        "Streets of Lisbon flooded by storm",
        "Lisbon storm floods more streets",
    )
    with lzma.open(tmp_path / "items.jsonl.xz", "wt") as lines:
        for number, title in enumerate([*titles, "Parliament rejects the budget of the minister"]):
            source = 1 + number % 2
            lines.write(
                json.dumps({"src": source, "t": DAY + 600 * number, "title": title, "desc": "word " * 50}) + "\n"
            )
        lines.write(json.dumps({"src": 3, "t": DAY, "title": titles[0], "desc": ""}) + "\n")
    to = tmp_path / "stories.md"
    call_command("draw_stories", postings=tmp_path, day=date(2023, 10, 11), to=to)
    text = to.read_text()
    assert text.count("## ") == 1
    assert all(title in text for title in titles)
    assert "Parliament" not in text
    assert "https://c/" not in text


def test_general_news_is_counted_by_language(tmp_path, monkeypatch):
    monkeypatch.setattr(make_news_counts, "MIN_DOCUMENTS", 5)
    postings, to = tmp_path / "items.jsonl.xz", tmp_path / "counts.npz"
    with lzma.open(postings, "wt") as lines:
        for number in range(6):
            text = "the storm has flooded the streets of the town, and the people were brought to safety"
            lines.write(json.dumps({"title": f"Storm number {number}", "desc": text}) + "\n")
    call_command("make_news_counts", postings=postings, every=1, to=to)
    with np.load(to) as stored:
        assert int(stored["en_documents"]) == 6
        assert stored["en_counts"].min() >= make_news_counts.MIN_COUNT
        assert stored["en_counts"].max() == 6
