"""Made-up items in a file, as the benchmarks read them."""

import json
import lzma
import random
from pathlib import Path

WORDS = ("market", "vote", "storm", "league", "budget", "river", "engine", "treaty", "museum", "harvest", "signal")
SOURCES = 5


def write_items(folder: Path, count: int, *, title_words: int = 1) -> Path:
    chance = random.Random(1)
    path = folder / "items.jsonl.xz"
    with lzma.open(path, "wt", encoding="utf-8") as file:
        for number in range(count):
            title, text = (" ".join(chance.choices(WORDS, k=words)) for words in (title_words, 40))
            line = {"src": number % SOURCES, "t": 1_700_000_000 + number, "title": title, "desc": text}
            file.write(json.dumps(line) + "\n")
    return path
