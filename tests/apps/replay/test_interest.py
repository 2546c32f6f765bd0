"""What searches do to recorded sources, in a small made-up recording."""

import json
import lzma

import numpy as np
import pytest
from django.core.management import CommandError, call_command

HOUR = 3_600
BEGIN = 1_689_465_600  # 16 July 2023


@pytest.fixture
def recording(tmp_path):
    """Thirty sources with a word of their own, which publish now and then for ten weeks."""
    random = np.random.default_rng(1)
    lines = []
    for source in range(30):
        for at in np.sort(random.uniform(BEGIN - 8 * 7 * 24 * HOUR, BEGIN + 7 * 24 * HOUR, 300)):
            words = f"topic{source} subject{source} of {random.integers(1000)}"
            lines.append(json.dumps({"src": source, "t": int(at), "title": words, "desc": ""}))
    path = tmp_path / "items.jsonl.xz"
    with lzma.open(path, "wt") as file:
        file.write("\n".join(lines))
    (tmp_path / "sources.csv").write_text("src,lang,good\n" + "".join(f"{source},en,1\n" for source in range(30)))
    return path


def test_what_is_searched_comes_sooner_and_nobody_else_waits_much_longer(recording, tmp_path, capsys):
    call_command("evaluate_interest", items=recording, days=2.0, searches=4, json=str(tmp_path / "figures.json"))
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["retrievals_ratio"] == pytest.approx(1, abs=0.05)
    assert 4 <= figures["sources_raised"] < 20
    assert figures["raised.retrievals_ratio"] > 1.1
    assert figures["raised.delay_ratio"] < 0.95
    assert figures["others.retrievals_ratio"] > 0.88
    assert "4 searches, 30 sources" in capsys.readouterr().out


def test_a_recording_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(CommandError, match=r"items\.jsonl\.xz"):
        call_command("evaluate_interest", items=tmp_path / "items.jsonl.xz")
