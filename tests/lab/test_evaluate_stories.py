"""The evaluation of stories, on a small made-up collection in each of its two formats."""

import csv
import json
from collections import defaultdict
from itertools import groupby

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from apps.stories.algorithms.reports import Vector
from lab.evaluations.stories import stream
from lab.evaluations.stories.ceiling import ceiling, levels
from lab.evaluations.stories.grouped import METHODS
from lab.evaluations.stories.stream import Arrival, Labelled, arrivals
from lab.evaluations.stories.variants import VARIANTS
from lab.management.commands import evaluate_stories

PLACES = ("Lisbon", "Oslo", "Kyoto", "Quito", "Accra", "Perth", "Turin", "Cork", "Graz", "Lund", "Bergen", "Porto")
WAYS = ("Flood reaches {0}", "{0} evacuated after flood", "Mayor of {0} speaks of flood", "{0}: what we know")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "EVERGREENS_A_DAY", 5)
    for name, size in (("DRAWS", 1), ("SMALL_DRAWS", 1), ("LABELS", (20,)), ("TRIALS", 2)):
        monkeypatch.setattr(evaluate_stories, name, size)
    with (tmp_path / "headlines.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["TITLE", "PUBLISHER", "CATEGORY", "STORY"])
        for number, place in enumerate(PLACES):
            for turn in range(12):
                title = WAYS[turn % len(WAYS)].format(place)
                rows.writerow([title, f"Publisher {turn}", "business" if number % 2 else "health", place])
    stories = [
        {
            "articles": [
                {
                    "title": way.format(place),
                    "text": " ".join(f"{place}{word} of" for word in range(20)),
                    "ext_url": f"https://paper{turn}.example/",
                }
                for turn, way in enumerate(WAYS)
            ]
        }
        for place in PLACES[:3]
    ]
    (tmp_path / "whole.json").write_text(json.dumps(stories))
    return tmp_path


@pytest.mark.trial
def test_every_method_groups_headlines_and_whole_texts(folder, tmp_path, capsys):
    call_command("evaluate_stories", stories=folder, active=200, json=tmp_path / "out", plot=tmp_path / "svg")
    figures = json.loads((tmp_path / "out").read_text())
    measures = ("bcubed_precision", "bcubed_recall", "bcubed_f1")
    grouped = {f"{prefix}{method}.{name}" for prefix in ("", "whole.") for method in METHODS for name in measures}
    assert grouped <= set(figures)
    assert len(METHODS) > 1
    assert all(0 < figures[name] <= 1 for name in grouped)
    assert figures["whole.ours.bcubed_f1"] > 0.9
    varied = {
        f"{name}.{variant}.{method}.{measure}"
        for name in ("headlines", "whole")
        for variant in ("dense", "cold", "boilerplate", "feed_by_feed", "mixed")
        for method in ("ours", "centroid", "max_link")
        for measure in ("bcubed_f1", "precision", "recall", "largest_purity")
    }
    assert varied <= set(figures)
    assert all(0 < figures[name] <= 1 for name in varied)
    bounds = {
        f"{name}.{variant}.ceiling.bcubed_f1" for name in ("headlines", "whole") for variant in ("plain", "dense")
    }
    assert bounds <= set(figures)
    assert figures["whole.plain.ceiling.bcubed_f1"] > 0.9
    related = {f"{name}.related.{each}" for name in ("headlines", "whole") for each in ("precision", "shown")}
    assert related <= set(figures)
    assert figures["headlines.related.precision"] >= figures["headlines.related.precision_of_all"] > 0.5
    assert {f"for_you.{interest}.20.both.auc" for interest in ("category", "stories")} <= set(figures)
    assert 0 < figures["active_stories"] <= figures["active_postings"] <= 200
    assert "Stories of whole" in capsys.readouterr().out
    assert "headlines" in (tmp_path / "svg").read_text()


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("other.txt", "", r"has no \*\.csv"),
        ("short.csv", "TITLE,STORY\n", "no column CATEGORY and no PUBLISHER"),
    ],
)
def test_a_folder_of_other_things_is_refused(tmp_path, name, content, complaint):
    (tmp_path / name).write_text(content)
    with pytest.raises(CommandError, match=complaint):
        call_command("evaluate_stories", stories=tmp_path)


def test_a_file_of_texts_in_another_layout_is_named(folder):
    (folder / "whole.json").write_text('[{"items": []}]')
    with pytest.raises(CommandError, match=r"whole\.json is no list of stories"):
        call_command("evaluate_stories", stories=folder)


def some_reports():
    return [
        Labelled(way.format(place), "", f"Publisher {number}", place)
        for place in PLACES
        for number, way in enumerate(WAYS)
    ]


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_variant_is_drawn_by_its_seed_and_keeps_all_marked_reports(variant):
    reports = some_reports()
    drawn = VARIANTS[variant](reports, 1)
    assert drawn == VARIANTS[variant](reports, 1) != VARIANTS[variant](reports, 2)
    stories = {report.story for report in reports}
    assert sorted(each.title for each in drawn if each.story in stories) == sorted(
        each.title for each in arrivals(reports, 1) if each.story
    )


def test_dense_streams_have_three_days_and_feeds_come_one_after_the_other():
    assert max(each.hours for each in VARIANTS["dense"](some_reports(), 1)) <= 72
    publishers = [each.publisher for each in VARIANTS["feed_by_feed"](some_reports(), 1)]
    assert len(list(groupby(publishers))) == len(set(publishers))


def test_publishers_append_the_same_kind_of_text_to_all_their_reports():
    texts = defaultdict(set)
    for each in VARIANTS["boilerplate"](some_reports(), 1):
        if each.story:
            texts[each.publisher].add(each.text[:12])
    assert all(len(beginnings) == 1 for beginnings in texts.values())
    assert any(beginnings != {""} for beginnings in texts.values())


@given(st.integers(2, 8), st.integers(0, 1000))
def test_each_level_joins_the_two_parts_whose_pairs_have_the_largest_mean(count, seed):
    likeness = np.random.default_rng(seed).random((count, count))
    likeness += likeness.T
    parts = [{place} for place in range(count)]
    for level in levels(likeness):
        assert {frozenset(np.flatnonzero(np.array(level) == part).tolist()) for part in level} == {
            *map(frozenset, parts)
        }
        pairs = [(one, other) for one in parts for other in parts if min(one) < min(other)]
        if pairs:
            one, other = max(pairs, key=lambda pair: likeness[np.ix_([*pair[0]], [*pair[1]])].mean())
            parts = [each for each in parts if each not in (one, other)] + [one | other]


def test_the_ceiling_knows_the_best_threshold_and_lets_likeness_fade():
    one, other = (Vector(np.array(terms, np.int32), np.full(2, 0.7, np.float32)) for terms in ([1, 2], [3, 4]))
    times = ((0, "a"), (1, "a"), (2, "b"), (150, "c"), (151, "c"))
    labels = [Arrival(hours, "", "", "", story) for hours, story in times]
    vectors = dict(enumerate((one, one, other, one, one)))
    assert ceiling(labels, vectors).f1 == 1.0
    at_once = [Arrival(0, "", "", "", each.story) for each in labels]
    assert ceiling(at_once, vectors).f1 < 1.0
